import Foundation
import TestKit
import Testing

/// Erasing a node of whose events retention has dropped some.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct ErasedNodes {
    private func rows(_ tool: Tool, _ subject: String) throws -> [String] {
        try tool.run("export", subject, "--format", "jsonl").lines.map(String.init)
    }

    @Test(arguments: [false, true]) func `D15: its rows leave the baselines, all others stay, and nothing is left in any file`(
        beside: Bool
    ) throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "3000")
        try tool.run("retain", "--larger-than", "150kB", "--yes")
        let first = try #require(try tool.run("stats", "--format", "json").objects[0]["first_event"] as? Int)
        let message = try #require(
            try tool.run("messages", "--format", "jsonl").objects.first {
                ($0["text"] as? String ?? "").utf8.count > 12 && $0["sequence"] as? Int ?? first < first
            })
        let (node, text) = (try #require(message["from"] as? String), try #require(message["text"] as? String))
        let name = try #require(
            try tool.run("nodes", "--format", "jsonl").objects.first { $0["node"] as? String == node }?["long_name"] as? String)
        let needles = [Data(text.utf8), Data(name.utf8)]
        #expect(try filesHolding(needles, below: tool.ledger + "/baselines").count >= 2, "they are there to be found")
        let backup = tool.folder.path + "/backup"
        try tool.run("backup", "--with-signing-key", backup)
        let subjects = ["nodes", "positions", "telemetry", "messages", "nodehistory", "hardware"]
        let before = try subjects.map { try rows(tool, $0) }
        let writer = beside ? try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"]) : nil
        if let writer { try writer.wait(for: "trying again") }
        let erased = try tool.run("erase", "--node", node, "--reason", "its owner asked for it", "--yes")
        #expect(erased.status == 0 && erased.output.contains("are erased, too") && erased.errors.isEmpty, "\(erased)")
        #expect(try filesHolding(needles, below: tool.ledger) == [])
        for (subject, old) in zip(subjects, before) {
            let field = subject == "messages" ? "\"from\":\"\(node)\"" : "\"node\":\"\(node)\""
            #expect(old.contains { $0.contains(field) }, "\(subject)")
            let now = try rows(tool, subject)
            #expect(!now.contains { $0.contains(field) }, "\(subject)")
            // Older rows of others stay as they were; what the node acknowledged or passed on may count less.
            #expect(now.count == old.count { !$0.contains(field) }, "\(subject)")
        }
        try expectWhole(tool, after: writer)
        let again = try tool.run("erase", "--node", node, "--yes")
        #expect(again.status == 0 && again.output == "nothing to erase\n", "\(again)")
        // Neither does the backup's next run keep it.
        let copy = tool.folder.path + "/copy"
        #expect(try tool.run("backup", "--with-signing-key", backup).status == 0)
        #expect(try tool.run("restore", backup, copy).status == 0)
        #expect(try filesHolding(needles, below: copy) == [])
        #expect(try tool.start(["verify"], environment: ["MESHLEDGER": copy]).wait().status == 0)
    }

    @Test func `what an interruption left is finished, or taken back`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "3000")
        try tool.run("retain", "--larger-than", "150kB", "--yes")
        let cut = try #require(try tool.run("stats", "--format", "json").objects[0]["first_event"] as? Int) - 1
        let (place, next) = ("\(tool.ledger)/baselines/\(cut)", "\(tool.ledger)/baselines/\(cut)-next")
        let old = tool.folder.path + "/old"
        try FileManager.default.copyItem(atPath: place, toPath: old)
        let node = try #require(try tool.run("nodes", "--format", "jsonl").objects.first?["node"] as? String)
        #expect(try tool.run("erase", "--node", node, "--yes").status == 0)
        let digest = try tool.run("view", "digest").output
        // As it was before the new ones took their place.
        try FileManager.default.moveItem(atPath: place, toPath: next)
        try FileManager.default.copyItem(atPath: old, toPath: place)
        try FileManager.default.removeItem(atPath: tool.ledger + "/views")
        #expect(try tool.run("rebuild").status == 0)
        #expect(try tool.run("view", "digest").output == digest && !FileManager.default.fileExists(atPath: next))
        // As it was before an event named them.
        try FileManager.default.copyItem(atPath: old, toPath: next)
        #expect(try tool.run("rebuild").status == 0)
        #expect(try tool.run("view", "digest").output == digest && !FileManager.default.fileExists(atPath: next))
    }

    @Test(arguments: [false, true]) func `D15: the rows of a packet leave the baselines, those of others with its number stay`(
        beside: Bool
    ) throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "3000")
        var packets: [Int: (id: Int, from: String)] = [:]
        for row in try tool.run("events", "--format", "jsonl").objects {
            guard let sequence = row["sequence"] as? Int, let id = row["packet_id"] as? Int, let from = row["from"] as? String
            else {
                continue
            }
            packets[sequence] = (id, from)
        }
        try tool.run("retain", "--larger-than", "150kB", "--yes")
        let first = try #require(try tool.run("stats", "--format", "json").objects[0]["first_event"] as? Int)
        let subjects = ["messages", "positions", "telemetry", "nodes", "packets", "nodehistory"]
        let before = try subjects.map { try rows(tool, $0) }
        let writer = beside ? try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"]) : nil
        if let writer { try writer.wait(for: "trying again") }
        var gone: Set<String> = []
        for (subject, sender, number) in [
            ("messages", "from", "id"), ("positions", "node", "packet_id"), ("telemetry", "node", "packet_id"),
        ] {
            let line = try #require(
                try rows(tool, subject).first { line in
                    let row = Self.object(line)
                    let isLong = subject != "messages" || (row["text"] as? String ?? "").utf8.count > 12
                    return isLong && row["sequence"] as? Int ?? first < first && row[number] as? Int ?? 0 != 0
                })
            let row = Self.object(line)
            let (id, from) = (try #require(row[number] as? Int), try #require(row[sender] as? String))
            let other = try tool.run("erase", "--packet", "\(id)", "--from", "!00000001", "--yes")
            let stays = try rows(tool, subject).contains(line)
            #expect(other.status == 0 && stays, "\(other)")
            let erased = try tool.run("erase", "--packet", "\(id)", "--from", from, "--yes")
            #expect(erased.status == 0 && erased.output.contains("rows of dropped events up to \(first - 1)"), "\(erased)")
            gone.insert(line)
            if let text = row["text"] as? String {
                #expect(try filesHolding(text, below: tool.ledger) == [])
            }
        }
        // A row that has no id, but its event.
        let line = try #require(try rows(tool, "nodehistory").first { (Self.object($0)["sequence"] as? Int ?? first) < first })
        let sequence = try #require(Self.object(line)["sequence"] as? Int)
        let event = try #require(packets[sequence])
        #expect(try tool.run("erase", "--packet", "\(event.id)", "--from", event.from, "--yes").status == 0)
        gone.insert(line)
        let indexed = try tool.run("export", "packet_events", "--format", "jsonl").objects.first {
            $0["sequence"] as? Int == sequence
        }
        #expect(indexed == nil, "\(indexed ?? [:])")
        for (subject, old) in zip(subjects, before) {
            #expect(try rows(tool, subject) == old.filter { !gone.contains($0) }, "\(subject)")
        }
        try expectWhole(tool, after: writer)
    }

    /// Ends the writer, if there is one, and expects that views folded from the start are the same.
    private func expectWhole(_ tool: Tool, after writer: Tool.Running?) throws {
        if let writer {
            writer.process.interrupt()
            #expect(try writer.wait().status == 0)
        }
        let digest = try tool.run("view", "digest").output
        #expect(try tool.run("rebuild").status == 0)
        #expect(try tool.run("view", "digest").output == digest)
        #expect(try tool.run("verify").status == 0)
    }

    private static func object(_ line: String) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]) ?? [:]
    }

    @Test func `what was dropped before it was erased is erased in an exact copy and in a restored ledger`() throws {
        let tool = try Tool()
        let (backup, copy, new) = (tool.folder.path + "/backup", tool.folder.path + "/copy", tool.folder.path + "/new")
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "3000")
        try tool.run("backup", "--with-signing-key", backup)
        try tool.run("restore", backup, copy)
        try tool.run("retain", "--larger-than", "150kB", "--yes")
        let row = try #require(try tool.run("nodes", "--format", "jsonl").objects.first)
        let (node, name) = (try #require(row["node"] as? String), try #require(row["long_name"] as? String))
        #expect(try tool.run("erase", "--node", node, "--yes").status == 0)
        let recording = tool.folder.path + "/recording"
        try tool.run("export", "--format", "ledger", recording)
        func run(_ arguments: String..., in ledger: String) throws -> Tool.Outcome {
            try tool.start(arguments, environment: ["MESHLEDGER": ledger]).wait()
        }
        for _ in 0..<2 {
            let imported = try run("import", recording, in: copy)
            #expect(imported.status == 0 && imported.errors.isEmpty, "\(imported)")
        }
        #expect(try tool.run("restore", "--erasures-of", tool.ledger, backup, new).status == 0)
        for ledger in [copy, new] {
            let left = try run("nodes", "--format", "jsonl", in: ledger)
            #expect(left.status == 0 && left.output.count > 1_000 && !left.output.contains("\"node\":\"\(node)\""), "\(left)")
            #expect(try filesHolding(name, below: ledger) == [])
            #expect(try run("verify", in: ledger).status == 0)
        }
        let other = tool.folder.path + "/other"
        try tool.run("init", other)
        let refused = try tool.run("restore", "--erasures-of", other, backup, new + "2")
        #expect(refused.status == 64 && refused.errors.contains("is of the ledger"), "\(refused)")
    }

    @Test func `what retention has dropped is not erased by sequence, and the command says what stays before it asks`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "3000")
        try tool.run("retain", "--larger-than", "150kB", "--yes")
        let first = try #require(try tool.run("stats", "--format", "json").objects[0]["first_event"] as? Int)
        let refused = try tool.run("erase", "--sequence", "3", "--yes")
        #expect(refused.status == 64 && refused.errors.contains("events up to \(first - 1)"), "\(refused)")
        #expect(refused.errors.contains("dropped by retention"), "\(refused)")
        for more in ["--dry-run", "--yes"] {
            let outcome = try tool.run("erase", "--packet", "1", more)
            #expect(outcome.status == 0 && outcome.errors.contains("these are not erased"), "\(outcome)")
        }
        let kept = try tool.run("erase", "--sequence", "\(first + 3)", "--yes")
        #expect(kept.status == 0 && kept.errors.contains("these are not erased"), "\(kept)")
    }

    @Test func `a gateway of whose events none is left was heard of, whatever a condition leaves of its links`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "7", "--nodes", "150", "--packets", "1200")
        try tool.run("retain", "--larger-than", "40kB", "--yes")
        let nodes = Set(try tool.run("nodes", "--format", "jsonl").objects.compactMap { $0["node"] as? String })
        let links = try tool.run("links", "--format", "jsonl").objects.compactMap { $0["hearer"] as? String }
        let gateways = Set(links).subtracting(nodes)
        #expect(gateways.count > 1)
        for gateway in gateways {
            let none = try tool.run("links", "--hearer", gateway, "--where", "direct>1000000")
            #expect(none.status == 0 && (none.output + none.errors).contains("no links"), "\(none)")
        }
        let never = try tool.run("links", "--hearer", "!12345678")
        #expect(never.status == 66 && never.errors.contains("was never heard or mentioned"), "\(never)")
    }
}
