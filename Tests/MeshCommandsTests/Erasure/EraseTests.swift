import Foundation
import MeshCrypto
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt), .serialized)
struct EraseTests {
    private func payloads(_ tool: Tool) throws -> [Int: Data] {
        let objects = try tool.run("export", "events", "--format", "jsonl").objects
        return Dictionary(
            uniqueKeysWithValues: try objects.map {
                let text = try #require($0["payload_b64"] as? String)
                return (try #require($0["sequence"] as? Int), try #require(Data(base64Encoded: text)))
            })
    }

    @Test func `D15: an erased node is in no file any more, and everything else can still be proven`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "40", "--packets", "3000")
        try tool.run("seal")
        try tool.run("simulate", "--seed", "6", "--nodes", "40", "--packets", "300")
        let note = try tool.write([String(try tool.run("checkpoint").output.dropLast())], to: "old.note")
        let message = try #require(
            try tool.run("messages", "--format", "jsonl").objects.first { ($0["text"] as? String ?? "").utf8.count > 12 })
        let node = try #require(message["from"] as? String)
        let text = try #require(message["text"] as? String)
        let row = try #require(try tool.run("nodes", "--format", "jsonl").objects.first { $0["node"] as? String == node })
        let name = try #require(row["long_name"] as? String)
        let before = try payloads(tool)
        let listed = try tool.run("erase", "--node", node, "--dry-run", "--format", "jsonl").objects.compactMap {
            $0["sequence"] as? Int
        }
        #expect(listed.count > 10)
        #expect(try payloads(tool) == before)
        let needles = listed.compactMap { before[$0] }.filter { $0.count > 20 } + [Data(text.utf8), Data(name.utf8)]
        #expect(try filesHolding(needles, below: tool.ledger).count >= 2, "the needles are there to be found")

        let refused = try tool.run("erase", "--node", node)
        #expect(refused.status == 64 && refused.errors.contains("--yes"))
        let erased = try tool.run("erase", "--node", node, "--reason", "its owner asked for it", "--yes")
        #expect(erased.status == 0, "\(erased.errors)")
        #expect(erased.output == "\(listed.count) events erased, as event \(before.count + 1) says\n")
        #expect(try filesHolding(needles, below: tool.ledger) == [])

        #expect(!(try tool.run("nodes", "--format", "jsonl").output.contains(node)))
        #expect(!(try tool.run("messages", "--format", "jsonl").output.contains(text)))
        let verified = try tool.run("verify", "--checkpoint", note)
        #expect(verified.status == 0 && verified.output.contains("extends the checkpoint"), "\(verified.errors)")
        let after = try payloads(tool)
        #expect(before.allSatisfy { after[$0.key] == (listed.contains($0.key) ? Data() : $0.value) })
        let shown = try tool.run("packet", "show", String(listed[0])).output
        #expect(shown.contains("erased by event \(before.count + 1): its owner asked for it"), "\(shown)")
        #expect(
            try tool.run("packet", "show", String(before.count + 1)).output.contains(
                "an erasure of \(listed.count) events (node \(node))"))
        let digests = try tool.run("view", "digest").output
        try FileManager.default.removeItem(atPath: tool.ledger + "/views")
        try tool.run("rebuild")
        #expect(try tool.run("view", "digest").output == digests)
        #expect(try tool.run("erase", "--node", node, "--yes").output == "nothing to erase\n")
        #expect(
            try tool.run("quarantine", "--format", "jsonl").objects.allSatisfy { !listed.contains($0["sequence"] as? Int ?? 0) })
    }

    @Test func `D15: the log tells what was asked for only to who has the salt, where that is wished`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "10", "--packets", "200")
        let node = try #require(try tool.run("messages", "--format", "jsonl").objects.first?["from"] as? String)
        let erased = try tool.run("erase", "--node", node, "--hidden", "--yes")
        #expect(erased.status == 0, "\(erased.errors)")
        let erasure = try #require(
            try /the log has it as (node sha256:[0-9a-f]{64}): the SHA-256 of "([0-9a-f]{32}) node (![0-9a-f]{8})"/.firstMatch(
                in: erased.output))
        #expect(erasure.3 == node)
        let hash = SHA256.hash(Array("\(erasure.2) node \(node)".utf8)).map {
            String($0 / 16, radix: 16) + String($0 % 16, radix: 16)
        }.joined()
        #expect(erasure.1 == "node sha256:" + hash)
        let events = try tool.run("export", "events", "--format", "jsonl").objects
        let event = try tool.run("packet", "show", String(events.count)).output
        #expect(event.contains(erasure.1) && !event.contains(node) && !event.contains(erasure.2), "\(event)")
        for needle in [Data(erasure.2.utf8), Data("node \(node)".utf8)] {
            #expect(try filesHolding([needle], below: tool.ledger) == [])
        }
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `D15: with mentions, packets to a node and those that it passed on go as well`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "6", "--nodes", "30", "--packets", "900")
        let all = try tool.run("export", "packet_events").objects
        func having(_ fields: [String], _ node: String) -> [Int] {
            all.filter { row in fields.contains { row[$0] as? String == node } }.compactMap { $0["sequence"] as? Int }
        }
        let gateways = Set(all.compactMap { $0["gateway"] as? String }).sorted()
        let node = try #require(gateways.first { !having(["from"], $0).isEmpty && !having(["to"], $0).isEmpty })
        func listed(_ arguments: String...) throws -> [Int] {
            try tool.start(["erase", "--node", node, "--dry-run", "--format", "jsonl"] + arguments).wait().objects.compactMap {
                $0["sequence"] as? Int
            }
        }
        let mentions = having(["from", "to", "gateway"], node)
        #expect(try listed() == having(["from"], node))
        #expect(try listed("--mentions") == mentions)
        let erased = try tool.run("erase", "--node", node, "--mentions", "--yes")
        #expect(erased.output.hasPrefix("\(mentions.count) events erased"), "\(erased.output) \(erased.errors)")
        #expect(try listed("--mentions").isEmpty)
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `a packet, and a range of events, are erased and no others`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "8", "--nodes", "20", "--packets", "400")
        let events = try tool.run("events", "--format", "jsonl", "--limit", "400").objects
        let before = try payloads(tool)
        #expect(try tool.run("erase", "--sequence", "7", "--sequence", "20-22", "--yes").status == 0)
        let erased = try tool.run("events", "--oldest-first", "--format", "jsonl").objects
            .filter { $0["failure"] as? String == "erased" }.compactMap { $0["sequence"] as? Int }
        #expect(erased == [7, 20, 21, 22])
        #expect(events.count == 400)
        let listed = try tool.run("erase", "--sequence", "20-24", "--dry-run", "--format", "jsonl").objects
        #expect(listed.compactMap { $0["sequence"] as? Int } == [23, 24])
        for arguments in [
            ["--sequence", "0"], ["--sequence", "9-3"], ["--packet", "0xx"], [], ["--node", "!1", "--sequence", "1"],
        ] {
            #expect(try tool.start(["erase", "--yes"] + arguments).wait().status == 64, "\(arguments)")
        }
        let beyond = try tool.run("erase", "--sequence", "4000", "--yes")
        #expect(beyond.status == 66 && beyond.errors.contains("there is no event 4000"))
        let own = try tool.run("erase", "--sequence", String(before.count + 1), "--yes")
        #expect(own.output == "nothing to erase\n")
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `an erasure that is killed at any moment is finished by the next command that writes`() throws {
        let kills = Int(ProcessInfo.processInfo.environment["MESHLEDGER_KILLS"] ?? "") ?? 10
        let seed = UInt64(ProcessInfo.processInfo.environment["MESHLEDGER_SEED"] ?? "") ?? 3
        var random = SeededGenerator(seed: seed)
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "9", "--nodes", "60", "--packets", "6000")
        try tool.run("seal")
        let before = try payloads(tool)
        let note = try tool.write([String(try tool.run("checkpoint").output.dropLast())], to: "old.note")
        // How long one takes that is not killed depends on what else this machine does.
        let whole = try ContinuousClock().measure { try tool.run("erase", "--sequence", "1", "--yes") } / .microseconds(1)
        var asked: Set<Int> = [1]
        for _ in 0..<kills {
            let first = Int.random(in: 1..<before.count - 300, using: &random)
            let last = first + Int.random(in: 0..<200, using: &random)
            let running = try tool.start(["erase", "--sequence", "\(first)-\(last)", "--yes"])
            usleep(UInt32(Double.random(in: 0.01...1.1, using: &random) * whole))
            kill(running.process.processIdentifier, SIGKILL)
            _ = try running.wait()
            asked.formUnion(first...last)
        }
        let rebuilt = try tool.run("rebuild")
        #expect(rebuilt.status == 0, "seed \(seed): \(rebuilt.errors)")
        let verified = try tool.run("verify", "--checkpoint", note)
        #expect(verified.status == 0, "seed \(seed): \(verified.errors)")
        let after = try payloads(tool)
        let erased = before.keys.filter { after[$0]?.isEmpty == true && before[$0]?.isEmpty == false }
        #expect(!erased.isEmpty && asked.isSuperset(of: erased), "seed \(seed)")
        #expect(before.allSatisfy { erased.contains($0.key) || after[$0.key] == $0.value }, "seed \(seed)")
        let kept = Set(after.values)
        let needles = erased.compactMap { before[$0] }.filter { $0.count > 24 && !kept.contains($0) }
        #expect(try filesHolding(needles, below: tool.ledger) == [], "seed \(seed)")
        let digests = try tool.run("view", "digest").output
        try FileManager.default.removeItem(atPath: tool.ledger + "/views")
        #expect(try tool.run("view", "digest").output == digests, "seed \(seed)")
    }
}
