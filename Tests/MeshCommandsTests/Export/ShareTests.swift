import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt), .timeLimit(.minutes(40)))
struct ShareTests {
    @discardableResult
    func run(_ tool: Tool, in ledger: String, _ arguments: String...) throws -> Tool.Outcome {
        try tool.start(arguments, environment: ["MESHLEDGER": tool.folder.path + "/" + ledger]).wait()
    }

    func digest(_ tool: Tool, _ ledger: String) throws -> String { try run(tool, in: ledger, "view", "digest").output }

    @Test func `D24: a recording makes a ledger with the same root and the same views`() throws {
        let tool = try Tool()
        let file = tool.folder.path + "/mesh.recording"
        try tool.run("init")
        try tool.run("simulate", "--nodes", "20", "--packets", "800")
        let exported = try tool.run("export", "--format", "ledger", file)
        #expect(exported.status == 0 && exported.output.hasPrefix("800 events are in"), "\(exported)")
        #expect(try run(tool, in: "copy", "init").status == 0)
        let imported = try run(tool, in: "copy", "import", file)
        #expect(imported.status == 0 && imported.output.contains("800 events, an exact copy of the ledger"), "\(imported)")
        #expect(try run(tool, in: "copy", "import", file).output.contains("0 events, an exact copy"))
        #expect(try digest(tool, "copy") == digest(tool, "mesh.ledger"))
        let roots = try ["copy", "mesh.ledger"].map { try run(tool, in: $0, "checkpoint").lines[2] }
        #expect(roots[0] == roots[1])
        #expect(try run(tool, in: "copy", "verify").status == 0)
    }

    @Test(arguments: [false, true])
    func `what was erased leaves an exact copy and its views with the next recording`(beside: Bool) throws {
        let tool = try Tool()
        let file = tool.folder.path + "/mesh.recording"
        try tool.run("init")
        try tool.run("simulate", "--nodes", "20", "--packets", "800")
        try tool.run("export", "--format", "ledger", file)
        try run(tool, in: "copy", "init")
        try run(tool, in: "copy", "import", file)
        let message = try #require(
            try tool.run("messages", "--format", "jsonl").objects.first { ($0["text"] as? String ?? "").utf8.count > 12 })
        let (id, text) = (try #require(message["id"] as? Int), try #require(message["text"] as? String))
        #expect(try run(tool, in: "copy", "messages", "--format", "jsonl").output.contains(text))
        #expect(try tool.run("erase", "--packet", "\(id)", "--yes").status == 0)
        try tool.run("export", "--format", "ledger", file)
        let environment = ["MESHLEDGER": tool.folder.path + "/copy"]
        let writer = beside ? try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"], environment: environment) : nil
        if let writer { try writer.wait(for: "trying again") }
        #expect(try run(tool, in: "copy", "import", file).status == 0)
        let verified = try run(tool, in: "copy", "verify")
        #expect(verified.status == 0, "\(verified)")
        #expect(try !run(tool, in: "copy", "messages", "--format", "jsonl").output.contains(text))
        if let writer {
            writer.process.interrupt()
            #expect(try writer.wait().status == 0)
        }
        #expect(try digest(tool, "copy") == digest(tool, "mesh.ledger"))
        #expect(try filesHolding(text, below: tool.folder.path + "/copy") == [])
    }

    @Test func `the packets of one node are a new ledger, which says so`() throws {
        let tool = try Tool()
        let file = tool.folder.path + "/node.recording"
        try tool.run("init")
        try tool.run("simulate", "--nodes", "20", "--packets", "800")
        let node = try #require(try tool.run("nodes", "--limit", "1", "--format", "jsonl").objects.first?["node"] as? String)
        let count = try tool.run("events", "--node", node, "--format", "jsonl").lines.count
        let exported = try tool.run("export", "--format", "ledger", "--node", node, file)
        #expect(exported.output.contains("\(count) events") && exported.output.contains("not a copy"), "\(exported)")
        try run(tool, in: "part", "init")
        let imported = try run(tool, in: "part", "import", file)
        #expect(imported.output.contains("\(count) events") && imported.output.contains("it is a new ledger"), "\(imported)")
        #expect(try run(tool, in: "part", "verify").status == 0)
    }

    @Test func `a damaged recording is refused in one line and adds nothing`() throws {
        let tool = try Tool()
        let file = tool.folder.file("mesh.recording")
        try tool.run("init")
        try tool.run("simulate", "--packets", "300")
        try tool.run("export", "--format", "ledger", file.path)
        try Data(contentsOf: file).dropLast(100).write(to: file)
        try run(tool, in: "copy", "init")
        let outcome = try run(tool, in: "copy", "import", file.path)
        #expect(outcome.status == 65 && outcome.errors.contains("the recording is cut short"), "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(try run(tool, in: "copy", "events", "--format", "jsonl").output.isEmpty)
    }

    @Test func `D19 G26: any order of merging gives the same views, and a backup gives them again`() throws {
        let tool = try Tool()
        let (a, b) = (tool.folder.path + "/a", tool.folder.path + "/b")
        for (ledger, seed) in [("a", "1"), ("b", "2")] {
            try run(tool, in: ledger, "init")
            try run(tool, in: ledger, "simulate", "--seed", seed, "--nodes", "20", "--packets", "500")
        }
        let (ab, ba) = (tool.folder.path + "/ab", tool.folder.path + "/ba")
        #expect(try tool.run("merge", a, b, "--into", ab).output.hasPrefix("1,000 events of 2 ledgers"))
        #expect(try tool.run("merge", b, ab, a, "--into", ba).output.contains("1,000 were in several"))
        #expect(try digest(tool, "ab") == digest(tool, "ba"))
        #expect(try tool.run("merge", a, b, "--into", ab).status == 73)
        let backup = tool.folder.path + "/backup"
        #expect(try run(tool, in: "ab", "backup", backup).status == 0)
        #expect(try tool.run("backup", "--verify", backup).output.contains("all intact"))
        let restored = tool.folder.path + "/restored"
        #expect(try tool.run("restore", backup, restored).status == 0)
        #expect(try digest(tool, "restored") == digest(tool, "ab"))
        #expect(try tool.run("restore", backup, restored).status == 73)
        #expect(try run(tool, in: "a", "backup", backup).status == 73)
        #expect(try tool.run("restore", tool.folder.path + "/nothing", restored + "2").status == 66)
        #expect(try tool.run("backup", "--verify", a).status == 66)
    }

    @Test func `K30: two ledgers that exchange recordings hold the same rows, and merged they are one ledger`() throws {
        let tool = try Tool()
        for (ledger, seed) in [("a", "1"), ("b", "2")] {
            try run(tool, in: ledger, "init")
            try run(tool, in: ledger, "simulate", "--seed", seed, "--nodes", "20", "--packets", "600")
        }
        let files = ["a", "b"].map { tool.folder.path + "/\($0).recording" }
        for (ledger, file) in zip(["a", "b"], files) { try run(tool, in: ledger, "export", "--format", "ledger", file) }
        #expect(try run(tool, in: "a", "import", files[1]).output.contains("600 events"))
        #expect(try run(tool, in: "b", "import", files[0]).output.contains("600 events"))
        // Of what a simulated mesh has nothing of there is nothing to compare; sources have numbers of their own in each ledger.
        let without = ["radios", "unknown_telemetry", "archived", "references"]
        for subject in Ledger.viewNames + ["channels", "hardware", "gateway_nodes"] + without.dropFirst()
        where subject != "packets" {
            let rows = try ["a", "b"].map { try Set(self.rows(of: run(tool, in: $0, "export", subject).objects)) }
            #expect(rows[0] == rows[1], "\(subject): \(rows[0].symmetricDifference(rows[1]).sorted().prefix(4))")
            #expect(without.contains(subject) || !rows[0].isEmpty, "\(subject)")
        }
        for ledger in ["a", "b"] {
            try run(tool, in: ledger, "merge", tool.folder.path + "/" + ledger, "--into", tool.folder.path + "/one-" + ledger)
        }
        #expect(try digest(tool, "one-a") == digest(tool, "one-b"))
    }

    @Test(arguments: ["envelopes", "jsonl", "stream", "length-prefixed", "mqtt-json"])
    func `K29: a file of any form that is imported again, under another name or from a ledger's export, changes no view`(
        form: String
    ) throws {
        let tool = try Tool()
        try tool.run("init")
        // There is something already, of the same nodes.
        try tool.run("simulate", "--seed", "4", "--nodes", "20", "--packets", "200")
        let file = tool.folder.path + "/traffic"
        #expect(
            try tool.run("simulate", "--seed", "5", "--nodes", "20", "--packets", "400", "--to", file, "--as", form).status == 0)
        let first = try tool.run("import", file)
        #expect(first.status == 0 && !first.output.contains(": 0 events"), "\(first)")
        let (digest, events) = (try tool.run("view", "digest").output, try tool.run("export", "events").lines.count)
        #expect(try tool.run("import", file).output.contains(": 0 events"))
        let copy = tool.folder.path + "/copy"
        try FileManager.default.copyItem(atPath: file, toPath: copy)
        try FileManager.default.removeItem(atPath: file)
        #expect(try tool.run("import", copy).output.contains(": 0 events"))
        #expect(try tool.run("view", "digest").output == digest && tool.run("export", "events").lines.count == events)
    }

    /// Without what depends on the order in which events came, and the names of their sources, to which another ledger adds where they are from.
    private func rows(of objects: [[String: Any]]) throws -> [String] {
        try objects.map { object in
            var object = object
            object["sources"] = nil
            let row = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
            return String(decoding: row, as: UTF8.self).replacing(/"[a-z_]*sequence":[0-9]+,?/, with: "")
        }
    }

    @Test func `S12: in a merged ledger every event keeps where it was first, and rows their keys`() async throws {
        let tool = try Tool()
        for (ledger, seed) in [("a", "1"), ("b", "2")] {
            try run(tool, in: ledger, "init")
            try run(tool, in: ledger, "simulate", "--seed", seed, "--nodes", "20", "--packets", "500")
        }
        let path = tool.folder.path
        try tool.run("merge", path + "/a", path + "/b", "--into", path + "/ab")
        var origins: Set<EventOrigin> = []
        let merged = try EventLog.open(at: path + "/ab", options: EventLogOptions(access: .readOnly))
        for number in 1...merged.head.rawValue { origins.insert(try merged.origin(of: EventSequence(number))) }
        await merged.close()
        var wanted: Set<EventOrigin> = []
        for name in ["a", "b"] {
            let log = try EventLog.open(at: path + "/" + name, options: EventLogOptions(access: .readOnly))
            for number in 1...log.head.rawValue {
                wanted.insert(EventOrigin(ledger: log.identifier, sequence: EventSequence(number)))
            }
            await log.close()
        }
        #expect(origins == wanted && origins.count == 1_000)
        for (subject, key) in [("nodes", "node"), ("messages", "id"), ("waypoints", "id"), ("traceroutes", "id")] {
            let keys = try ["a", "b", "ab"].map { ledger in
                try Set(run(tool, in: ledger, "export", subject).objects.map { "\($0["from"] ?? "") \($0[key] ?? "")" })
            }
            #expect(keys[0].union(keys[1]) == keys[2] && !keys[2].isEmpty, "\(subject)")
        }
    }

    @Test func `W5: the rows of several ledgers are shown as one`() throws {
        let tool = try Tool()
        for (ledger, seed) in [("a", "1"), ("b", "2")] {
            try run(tool, in: ledger, "init")
            try run(tool, in: ledger, "simulate", "--seed", seed, "--nodes", "10", "--packets", "300")
        }
        let b = tool.folder.path + "/b"
        let query = ["view", "positions", "--sort", "time", "--reverse", "--format", "jsonl"]
        func objects(_ ledger: String, _ more: String...) throws -> [[String: Any]] {
            let outcome = try tool.start(query + more, environment: ["MESHLEDGER": tool.folder.path + "/" + ledger]).wait()
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.objects
        }
        let both = try objects("a", "--also", b)
        let (first, second) = (try objects("a"), try objects("b"))
        #expect(both.count == first.count + second.count && !first.isEmpty && !second.isEmpty)
        let times = both.compactMap { $0["time"] as? String }
        #expect(times.count == both.count && times == times.sorted(by: >))
        #expect(both.count { ($0["ledger"] as? String) == b } == second.count)
        #expect(try objects("a", "--also", b, "--limit", "3").count == 3)
        // Columns are those of one ledger, each row with the names of its own.
        let messages = ["view", "messages", "--format", "csv"]
        func lines(_ ledger: String, _ more: String...) throws -> [Substring] {
            let outcome = try tool.start(messages + more, environment: ["MESHLEDGER": tool.folder.path + "/" + ledger]).wait()
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.lines
        }
        let (here, there) = (try lines("a"), try lines("b"))
        let union = try lines("a", "--also", b)
        #expect(union.first?[...] == "ledger,\(here[0])"[...] && union.count == here.count + there.count - 1)
        #expect(union.filter { $0.hasPrefix(b + ",") }.map { $0.dropFirst(b.count + 1) } == Array(there.dropFirst()))
        let name = try #require(try lines("b", "--columns", "from_name").dropFirst().first { !$0.isEmpty })
        let named = ["--where", "from_name=\(name)"]
        #expect(try lines("a", "--also", b, named[0], named[1]).count >= lines("b", named[0], named[1]).count)
        #expect(try lines("a", "--also", b, "--columns", "ledger,id")[0] == "ledger,id")
        let wrong = try run(tool, in: "a", "view", "positions", "--also", tool.folder.path + "/none")
        #expect(wrong.status == 66, "\(wrong)")
    }

    @Test func `D20: stats tells how much each source and node sent`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--nodes", "10", "--packets", "700")
        let minutes = try tool.run("export", "events", "--format", "json").output
        let events = try #require(try JSONSerialization.jsonObject(with: Data(minutes.utf8)) as? [[String: Any]])
        let received = events.compactMap { ($0["reception"] as? String).map { String($0.prefix(16)) } }
        #expect(received.count == 700)
        var busiest: [String: [String: Int]] = [:]
        for packet in try tool.run("export", "packet_events").objects {
            guard let node = packet["from"] as? String, let sequence = packet["sequence"] as? Int else { continue }
            busiest[node, default: [:]][received[sequence - 1], default: 0] += 1
        }
        let rows = try tool.run("stats", "--rates", "--format", "jsonl").objects
        let nodes = rows.filter { $0["kind"] as? String == "node" }
        #expect(nodes.count == busiest.count && nodes.count > 5)
        for row in nodes {
            let found = try #require(busiest[row["name"] as? String ?? ""])
            #expect(
                row["events"] as? Int == found.values.reduce(0, +) && row["busiest_minute"] as? Int == found.values.max(),
                "\(row)")
        }
        let counts = nodes.compactMap { $0["events"] as? Int }
        #expect(counts == counts.sorted(by: >))
        let source = try #require(rows.first)
        #expect(source["kind"] as? String == "source" && source["events"] as? Int == 700)
        let sent = try #require(source["per_minute"] as? Double)
        let most = try #require(source["busiest_minute"] as? Double)
        #expect(sent > 1 && sent <= most)
    }
}
