import Foundation
import MeshLedger
import TestKit
import Testing

/// What retention left of dropped events, when commands meet and when its files are damaged.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct DamagedBaselines {
    private func made() throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "3000")
        return tool
    }

    private func positions(_ tool: Tool) throws -> [Substring] {
        try tool.run("positions", "--format", "jsonl", "--limit", "1000000").lines
    }

    @Test func `two cuts at once leave the baselines in force whole, and a rebuild has all rows`() throws {
        let tool = try made()
        let before = try positions(tool)
        let cuts = try (0..<3).map { _ in try tool.start(["retain", "--larger-than", "150kB", "--yes"]) }
        for cut in cuts {
            let outcome = try cut.wait()
            #expect([0, 75].contains(outcome.status), "\(outcome)")
        }
        let verified = try tool.run("verify")
        #expect(verified.status == 0 && verified.output.contains("were dropped by retention"), "\(verified)")
        #expect(try tool.run("rebuild").status == 0)
        #expect(try positions(tool).count == before.count)
    }

    @Test func `a damaged baseline is reported by verify, and no rebuild or cut gives its rows up`() throws {
        let tool = try made()
        #expect(try tool.run("retain", "--larger-than", "150kB", "--yes").status == 0)
        let before = try positions(tool)
        let node = try #require(try tool.run("nodes", "--limit", "1", "--format", "jsonl").objects.first?["node"] as? String)
        let folder = try #require(
            FileManager.default.contentsOfDirectory(atPath: tool.ledger + "/baselines").first { UInt64($0) != nil })
        let file = URL(fileURLWithPath: "\(tool.ledger)/baselines/\(folder)/positions/data.mdb")
        let good = try Data(contentsOf: file)
        var bad = good
        bad[5_000] ^= 1
        for damaged in [bad, nil] {
            if let damaged { try damaged.write(to: file) } else { try FileManager.default.removeItem(at: file) }
            let verified = try tool.run("verify")
            #expect(verified.status == 1 && verified.errors.contains("baselines/\(folder)/positions"), "\(verified)")
            for command in [
                ["rebuild"], ["rebuild", "positions"], ["retain", "--larger-than", "100kB", "--yes"],
                ["keys", "add", "Harbour", "--psk", "AQ=="], ["erase", "--sequence", "2990", "--yes"],
                ["erase", "--node", node, "--dry-run"], ["erase", "--node", node, "--yes"],
                ["erase", "--packet", "7", "--from", node, "--dry-run"], ["erase", "--packet", "7", "--from", node, "--yes"],
            ] {
                let refused = try tool.start(command).wait()
                #expect(refused.status == 65 && refused.errors.contains("keeps its rows"), "\(command): \(refused)")
            }
            #expect(try positions(tool) == before)
        }
        // Without its own file either, the view has no rows, which is no answer.
        let view = "\(tool.ledger)/views/positions"
        let recipe = try String(contentsOfFile: view + "/current", encoding: .utf8).trimmingCharacters(
            in: .whitespacesAndNewlines)
        try FileManager.default.removeItem(atPath: "\(view)/\(recipe)/data.mdb")
        for _ in 0..<3 {
            let refused = try tool.run("export", "positions")
            #expect(refused.status == 65 && refused.output.isEmpty && refused.errors.contains("restore the file"), "\(refused)")
            #expect(try tool.run("messages").status == 0)
        }
        try good.write(to: file)
        #expect(try tool.run("verify").status == 0)
        #expect(try tool.run("rebuild").status == 0)
        #expect(try positions(tool).count == before.count)
    }

    @Test func `rows that are lost for good are reported by each rebuild`() throws {
        let tool = try made()
        #expect(try tool.run("retain", "--larger-than", "150kB", "--yes").status == 0)
        let folder = try #require(
            FileManager.default.contentsOfDirectory(atPath: tool.ledger + "/baselines").first { UInt64($0) != nil })
        try FileManager.default.removeItem(atPath: tool.ledger + "/baselines/\(folder)/positions")
        try FileManager.default.removeItem(atPath: tool.ledger + "/views/positions")
        try tool.run("positions")
        for command in [["rebuild"], ["rebuild", "positions"]] {
            let outcome = try tool.start(command).wait()
            #expect(
                outcome.status == 1 && outcome.errors.contains("the baseline of the view positions"), "\(command): \(outcome)")
        }
        #expect(try tool.run("rebuild", "nodes").status == 0)
    }

    @Test func `copies of a ledger with a damaged baseline say so each time and end with 1`() throws {
        let tool = try made()
        #expect(try tool.run("retain", "--larger-than", "150kB", "--yes").status == 0)
        let backup = tool.folder.path + "/backup"
        let folder = try #require(
            FileManager.default.contentsOfDirectory(atPath: tool.ledger + "/baselines").first { UInt64($0) != nil })
        let file = URL(fileURLWithPath: "\(tool.ledger)/baselines/\(folder)/positions/data.mdb")
        let good = try Data(contentsOf: file)
        var bad = good
        bad[5_000] ^= 1
        try bad.write(to: file)
        for command in [
            ["backup", backup], ["backup", backup], ["backup", "--verify", backup],
            ["restore", backup, tool.folder.path + "/restored"], ["salvage", tool.ledger, tool.folder.path + "/salvaged"],
            ["salvage", "--dry-run", tool.ledger],
        ] {
            let outcome = try tool.start(command).wait()
            #expect(
                outcome.status == 1 && outcome.errors.contains("the baseline of the view positions"), "\(command): \(outcome)")
        }
        try good.write(to: file)
        for command in [
            ["backup", backup], ["backup", "--verify", backup], ["restore", backup, tool.folder.path + "/whole"],
            ["salvage", tool.ledger, tool.folder.path + "/copied"],
        ] {
            let outcome = try tool.start(command).wait()
            #expect(outcome.status == 0, "\(command): \(outcome)")
        }
    }

    @Test func `a packet that retention has dropped is erased from the log's free pages, and from what a killed cut left`() throws
    {
        let words = { (number: Int) in "confidential words \(number) that go" }
        let tool = try Tool(holding: (1...40).map { Line.text(words($0), from: 0x4a00_0001, time: 1_760_000_000 + $0) })
        try tool.run("simulate", "--seed", "3", "--nodes", "20", "--packets", "8000", "--encrypted", "0")
        #expect(try tool.run("retain", "--larger-than", "400kB", "--yes").status == 0)
        let secret = try #require(
            try (1...40).map(words).first { text in try filesHolding(text, below: tool.ledger).contains { $0.hasPrefix("log/") }
            },
            "the log's free pages have something of the dropped events")
        // As a cut leaves it that is killed before its event, and before it has removed the previous baselines.
        let baselines = tool.ledger + "/baselines"
        let inForce = try #require(try FileManager.default.contentsOfDirectory(atPath: baselines).first)
        for name in ["building", "17", "\(inForce)-next"] {
            try FileManager.default.copyItem(atPath: "\(baselines)/\(inForce)", toPath: "\(baselines)/\(name)")
        }
        #expect(
            try filesHolding(secret, below: tool.ledger).contains { $0.hasPrefix("baselines/building") },
            "it is there to be erased")
        let message = try #require(try tool.run("messages", "--where", "text=\(secret)", "--format", "jsonl").objects.first)
        let id = try #require(message["packet_id"] as? Int ?? message["id"] as? Int)
        let erased = try tool.run("erase", "--packet", "\(id)", "--from", "!4a000001", "--yes")
        #expect(erased.status == 0, "\(erased)")
        #expect(try filesHolding(secret, below: tool.ledger) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: baselines).count == 1)
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `without its limit, which is damaged, nothing is written, and verify and stats report it`() throws {
        let tool = try made()
        try tool.run("storage", "limit", "8MB")
        try tool.run("storage", "retain", "--policy", "--older-than", "90d")
        for name in ["limit", "retention"] {
            let file = URL(fileURLWithPath: tool.ledger + "/" + name)
            let good = try Data(contentsOf: file)
            var bad = good
            bad[1] ^= 1
            try bad.write(to: file)
            let verified = try tool.run("verify")
            #expect(verified.status == 1 && verified.errors.contains("/\(name)"), "\(verified)")
            let stats = try tool.run("stats")
            #expect(stats.status == 0 && stats.output.contains("events"), "\(stats)")
            let written = try tool.run("simulate", "--packets", "10")
            #expect(written.status == (name == "limit" ? 65 : 0), "\(written)")
            try good.write(to: file)
        }
        #expect(try tool.run("verify").status == 0)
        #expect(try tool.run("simulate", "--packets", "10").status == 0)
    }

    @Test func `a flipped bit of the policy or the limit is reported, and never another policy or limit`() throws {
        let folder = try TemporaryFolder()
        let policy = RetentionPolicy(longestSeconds: 90 * 86_400, largestBytes: 10_000_000_000)
        try policy.save(in: folder.path)
        try SizeLimit(bytes: 20_000_000_000).save(in: folder.path)
        #expect(try RetentionPolicy.load(from: folder.path) == policy)
        #expect(try SizeLimit.load(from: folder.path).bytes == 20_000_000_000)
        for name in ["retention", "limit"] {
            let file = folder.file(name)
            let good = try Data(contentsOf: file)
            for bit in 0..<good.count * 8 {
                var bad = good
                bad[bit / 8] ^= 1 << UInt8(bit % 8)
                try bad.write(to: file)
                let error = #expect(throws: LedgerError.self, "bit \(bit) of \(name)") {
                    if name == "limit" {
                        _ = try SizeLimit.load(from: folder.path)
                    } else {
                        _ = try RetentionPolicy.load(from: folder.path)
                    }
                }
                #expect(error?.code == .corrupt)
            }
        }
        for name in ["retention", "limit"] { try Data("\n".utf8).write(to: folder.file(name)) }
        #expect(throws: LedgerError.self) { try RetentionPolicy.load(from: folder.path) }
        #expect(throws: LedgerError.self) { try SizeLimit.load(from: folder.path) }
        try Data("older-than-seconds 60\n".utf8).write(to: folder.file("retention"))
        #expect(try RetentionPolicy.load(from: folder.path).longestSeconds == 60, "as earlier versions wrote it")
        try Data("size-bytes 4096\n".utf8).write(to: folder.file("limit"))
        #expect(try SizeLimit.load(from: folder.path).bytes == 4_096)
    }
}
