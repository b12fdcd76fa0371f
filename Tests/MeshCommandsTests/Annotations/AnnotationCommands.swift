import Foundation
import TestKit
import Testing

/// What people decide, on the command line.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(40)))
struct AnnotationCommands {
    private func filled() throws -> (tool: Tool, nodes: [String]) {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "12", "--packets", "400")
        return (tool, try tool.run("nodes", "--format", "jsonl").objects.compactMap { $0["node"] as? String })
    }

    /// Without times, which differ from run to run.
    private static func script(_ nodes: [String]) -> [[String]] {
        [
            ["node", "favorite", nodes[0], nodes[1]], ["node", "note", nodes[0], "on the roof"],
            ["node", "alias", nodes[0], "harbour"],
            ["node", "alias", nodes[1], "harbour"], ["node", "alias", nodes[1], "harbour", "--replace"],
            ["node", "ignore", "harbour"], ["node", "archive", nodes[2], "--messages", "cascade"], ["node", "restore", nodes[2]],
            ["message", "read", "--all"], ["message", "read", "--all"], ["message", "unread", "--node", nodes[3]],
            ["message", "archive", "--channel", "LongFast"], ["message", "restore", "--node", nodes[4]], ["revert", "401"],
            ["revert", "401"], ["revert", "1"], ["node", "note", "!00000001", "nobody"], ["message", "read"],
        ]
    }

    @Test func `marking what is marked already says that nothing is to change, not that there are no messages`() throws {
        let tool = try Tool(holding: [Line.text("hello", from: 0x11)])
        #expect(try tool.run("messages", "read", "--all").output.hasPrefix("event "))
        for arguments in [["read", "--all"], ["read", "--node", "!11"], ["restore", "--all"]] {
            let again = try tool.start(["messages"] + arguments).wait()
            let note = "nothing to change: no message matches, or all that match are marked so already\n"
            #expect(again.status == 0 && again.output == note, "\(arguments): \(again)")
        }
    }

    @Test func `W10 W9: marking, noting, hiding and undoing are the same alone and beside a process that writes`() throws {
        var outputs: [[String]] = []
        for isBeside in [false, true] {
            let (tool, nodes) = try filled()
            let writer = isBeside ? try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"]) : nil
            if let writer { try writer.wait(for: "trying again") }
            var output: [String] = []
            for command in Self.script(nodes) {
                let outcome = try tool.start(command).wait()
                output.append("\(command) \(outcome.status) \(outcome.output)\(outcome.errors)")
            }
            for listing in [
                ["nodes"], ["nodes", "--archived"], ["nodes", "--favorites"], ["messages"],
                ["messages", "--unread", "--archived"],
            ] {
                output.append(
                    try tool.start(listing + ["--format", "csv"]).wait().output.replacing(/,20\d\d-[0-9T:Z-]+,/, with: ",time,"))
            }
            outputs.append(output)
            if let writer {
                writer.process.interrupt()
                #expect(try writer.wait().status == 0)
            }
            let digests = try tool.run("view", "digest").output
            #expect(try tool.run("rebuild").status == 0)
            #expect(try tool.run("view", "digest").output == digests)
            #expect(try tool.run("verify").status == 0)
        }
        for (one, other) in zip(outputs[0], outputs[1]) { #expect(one == other) }
        let statuses = outputs[0].prefix(Self.script(Array(repeating: "", count: 5)).count).map { $0.contains("] 0 ") }
        #expect(
            statuses == [true, true, true, false, true] + Array(repeating: true, count: 9) + Array(repeating: false, count: 4))
    }

    @Test func `the note of a node is a column beside the summary of its marks`() throws {
        let (tool, nodes) = try filled()
        for command in [["favorite", nodes[0]], ["note", nodes[0], "on the roof"]] {
            #expect(try tool.start(["node"] + command).wait().status == 0)
        }
        func lines(_ columns: String) throws -> [Substring] {
            try tool.run("nodes", "--node", nodes[0], "--columns", columns).lines
        }
        #expect(try lines("note").map { $0.trimmingCharacters(in: .whitespaces) } == ["note", "on the roof"])
        #expect(try lines("marks").map { $0.trimmingCharacters(in: .whitespaces) } == ["marks", "favorite: on the roof"])
        #expect(try tool.run("nodes", "--node", nodes[0]).lines.last?.contains("favorite: on the roof") == true)
    }

    @Test func `an annotation is shown, exported, imported and read by the independent reader`() throws {
        let (tool, nodes) = try filled()
        try tool.run("node", "note", nodes[0], "on the roof ⛵")
        let shown = try tool.run("packet", "show", "401").output
        #expect(shown.contains("note: on the roof ⛵") && shown.contains(nodes[0]), "\(shown)")
        #expect(try tool.run("events", "--node", nodes[0], "--mentions", "--format", "csv").output.contains("401,"))
        let exported = tool.folder.file("events.jsonl")
        try Data(try tool.run("export", "events", "--format", "jsonl").output.utf8).write(to: exported)
        let other = try Tool()
        try other.run("init")
        #expect(try other.run("import", exported.path).status == 0)
        let row = try #require(try other.run("nodes", "--node", nodes[0], "--format", "jsonl").objects.first)
        #expect(row["note"] as? String == "on the roof ⛵")
        try tool.run("export", "--format", "ledger", tool.folder.file("copy.recording").path)
        let copy = try Tool()
        try copy.run("init")
        #expect(try copy.run("import", tool.folder.file("copy.recording").path).status == 0)
        #expect(try copy.run("view", "digest").output == tool.run("view", "digest").output)
    }
}
