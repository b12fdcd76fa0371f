import Foundation
import MeshLedger
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct RetainCommandTests {
    private static let views = Ledger.viewNames

    private func ledger(_ packets: Int) throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "\(packets)")
        try tool.run("nodes")
        return tool
    }

    /// Every file of the ledger with its bytes, but for locks.
    private func files(_ tool: Tool) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: tool.ledger)
        where !name.hasSuffix("lock.mdb") && name != "LOCK" {
            files[name] = FileManager.default.contents(atPath: tool.ledger + "/" + name)
        }
        return files
    }

    /// Of the packets their rows in the index: their content goes with the events.
    private func rows(_ tool: Tool) throws -> [String] {
        try Self.views.map { try tool.run("export", $0 == "packets" ? "packet_events" : $0, "--format", "jsonl").output }
    }

    @Test func `D3: a dry run tells what would go and changes nothing`() throws {
        let tool = try ledger(4_000)
        let before = try files(tool)
        let outcome = try tool.run("retain", "--larger-than", "200kB", "--dry-run")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("would go") && outcome.output.contains("bytes"))
        #expect(try files(tool) == before)
        for (text, status) in [(nil, 66), ("no note", 65)] as [(String?, Int32)] {
            let note = tool.folder.file("some.note").path
            if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: note)) }
            for limit in [["--larger-than", "200kB", "--dry-run"], ["--older-than", "1y", "--yes"], []] {
                let wrong = try tool.start(["retain", "--checkpoint", note] + limit).wait()
                #expect(wrong.status == status && wrong.output.isEmpty && wrong.errors.contains("some.note"), "\(wrong)")
            }
        }
        let refused = try tool.run("retain", "--larger-than", "200kB")
        #expect(refused.status == 64 && refused.errors.contains("--yes"))
        #expect(try tool.run("retain", "--older-than", "1y", "--yes").output.contains("nothing to drop"))
        #expect(try tool.run("events", "--limit", "1", "--oldest-first", "--format", "jsonl").objects[0]["sequence"] as? Int == 1)
    }

    @Test func `after a cut every query answers as before, and what is left is verified and proved`() throws {
        let tool = try ledger(4_000)
        let key = tool.folder.file("ledger.key")
        try Data(tool.run("checkpoint", "--public-key").output.utf8).write(to: key)
        let note = tool.folder.file("monday.note")
        try Data(tool.run("checkpoint").output.utf8).write(to: note)
        let before = try rows(tool)
        let head = try #require(try tool.run("stats", "--format", "json").objects[0]["events"] as? Int)
        let outcome = try tool.run("retain", "--larger-than", "200kB", "--yes")
        #expect(outcome.status == 0 && outcome.output.contains("dropped"), "\(outcome.errors)")
        #expect(try rows(tool) == before)
        let stats = try tool.run("stats", "--format", "json").objects[0]
        let first = try #require(stats["first_event"] as? Int)
        #expect(first > 1 && first % 256 == 1 && stats["events"] as? Int == head + 1)
        let none = try tool.run("packets", "--until", "2020-01-01")
        #expect(none.errors.contains("earlier events are no longer in the log; packets of which"), "\(none)")
        #expect(try tool.run("rebuild").status == 0)
        #expect(try rows(tool) == before)
        let verified = try tool.run("verify", "--checkpoint", note.path, "--key", key.path)
        #expect(verified.status == 0 && verified.output.contains("dropped by retention"), "\(verified.errors)")
        #expect(verified.output.contains("extends the checkpoint"))
        #expect(try tool.run("compact").status == 0)
        #expect(try tool.run("verify").status == 0)
        try expectProofs(tool, key, first)
        let events = try tool.run("events", "--format", "jsonl", "--oldest-first").objects
        #expect(events.first?["sequence"] as? Int == first && events.count == head + 2 - first)
        let read = try reader(tool)
        #expect(read.status == 0 && read.text.split(separator: "\n").count == events.count)
        let gone = try tool.run("packet", "show", "1")
        #expect(gone.status == 66 && gone.errors.contains("retention"))
        #expect(try tool.run("packet", "show", "\(head + 1)").output.contains("were dropped"))
    }

    private func expectProofs(_ tool: Tool, _ key: URL, _ first: Int) throws {
        let program = PackageRoot.url.appendingPathComponent("Tests/Oracle/verify_proof.py").path
        for sequence in [first, first + 300] {
            let proof = tool.folder.file("\(sequence).proof")
            try Data(tool.run("prove", "\(sequence)").output.utf8).write(to: proof)
            let outcome = try FinishedProcess(
                URL(fileURLWithPath: "/usr/bin/env"), ["python3", program, proof.path, key.path])
            #expect(outcome.status == 0 && outcome.text.hasPrefix("\(sequence) "), "\(outcome.text)")
        }
        #expect(try tool.run("prove", "\(first - 1)").status == 66)
    }

    private func reader(_ tool: Tool) throws -> FinishedProcess {
        try FinishedProcess(PackageRoot.url.appendingPathComponent("Tools/read-ledger"), [tool.ledger])
    }

    @Test func `rows of dropped events that older keys made are marked`() throws {
        let tool = try ledger(3_000)
        try tool.run("retain", "--larger-than", "150kB", "--yes")
        #expect(try tool.run("positions", "--format", "jsonl").objects.allSatisfy { $0["older_recipe"] == nil })
        try tool.run("keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        let positions = try tool.run("positions", "--format", "jsonl").objects
        let first = try #require(try tool.run("stats", "--format", "json").objects[0]["first_event"] as? Int)
        let (old, new) = (
            positions.filter { $0["sequence"] as? Int ?? 0 < first }, positions.filter { $0["sequence"] as? Int ?? 0 >= first }
        )
        #expect(!old.isEmpty && old.allSatisfy { $0["older_recipe"] is String })
        #expect(!new.isEmpty && new.allSatisfy { $0["older_recipe"] is NSNull })
    }

    @Test func `a policy is kept in the ledger, shown and taken back`() throws {
        let tool = try ledger(300)
        #expect(try tool.run("retain").output.contains("all events are kept"))
        #expect(try tool.run("retain", "--policy", "--older-than", "90d", "--larger-than", "10GB").status == 0)
        let shown = try tool.run("retain").output
        #expect(shown.contains("90d") && shown.contains("10,000,000,000 bytes"))
        let stats = try tool.run("stats", "--format", "json").objects[0]
        #expect(stats["retention_older_than"] as? String == "90d")
        #expect(stats["retention_larger_than_bytes"] as? Int == 10_000_000_000)
        try tool.run("retain", "--off")
        #expect(try tool.run("retain").output.contains("all events are kept"))
        for wrong in [["--policy"], ["--older-than", "soon"], ["--off", "--older-than", "1y"], ["--larger-than", "-5"]] {
            #expect(try tool.start(["retain"] + wrong).wait().status == 64, "\(wrong)")
        }
    }

    @Test(.enabled(if: OraclePython.path != nil, "needs a Python with the official decoder"), .timeLimit(.minutes(40)))
    func `after a cut and a rebuild the rows are those of an independent fold of all events`() throws {
        let tool = try ledger(4_000)
        let fold = try OracleFold(of: tool.ledger, in: tool.folder)
        try fold.exportEvents()
        #expect(try tool.run("retain", "--larger-than", "200kB", "--yes").status == 0)
        #expect(try tool.run("rebuild").status == 0)
        let found = try fold.compareRows()
        #expect(found.contains(" rows compared, 0 differences"), "\(found)")
    }

    /// `MESHLEDGER_KILLS` says how often.
    @Test(.timeLimit(.minutes(40)))
    func `killed in the middle of a cut, a ledger has all events or those that are kept, and the same rows`() throws {
        let kills = Int(ProcessInfo.processInfo.environment["MESHLEDGER_KILLS"] ?? "") ?? 8
        let seed = UInt64(ProcessInfo.processInfo.environment["MESHLEDGER_SEED"] ?? "") ?? 3
        var random = SeededGenerator(seed: seed)
        let tool = try ledger(12_000)
        let before = try rows(tool)
        var size = 900
        for kill in 0..<kills {
            let running = try tool.start(["retain", "--larger-than", "\(size)kB", "--yes"])
            usleep(UInt32.random(in: 20_000...600_000, using: &random))
            Foundation.kill(running.process.processIdentifier, SIGKILL)
            _ = try running.wait()
            let note: Comment = "seed \(seed), kill \(kill)"
            let verified = try tool.run("verify")
            #expect(verified.status == 0, "seed \(seed), kill \(kill): \(verified.errors)")
            #expect(try rows(tool) == before, note)
            if kill % 3 == 2 {
                #expect(try tool.run("rebuild").status == 0, note)
                #expect(try rows(tool) == before, note)
            }
            size = max(200, size - 90)
        }
        #expect(try tool.run("retain", "--larger-than", "150kB", "--yes").output.contains("dropped"))
        #expect(try rows(tool) == before)
    }
}
