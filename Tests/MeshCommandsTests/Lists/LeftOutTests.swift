import TestKit
import Testing

/// What lists say about rows of which only the time of the import is known, where they ask about time in other ways than by a window.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct LeftOutTests {
    private func tool() throws -> Tool {
        try Tool(holding: [
            Line.text("a", from: 0x11, time: 0), Line.text("b", from: 0x11, time: 0), Line.text("c", from: 0x12),
            Line.text("d", from: 0x13),
        ])
    }

    @Test func `nodes of unknown time are neither silent nor heard since, and a note says so`() throws {
        let tool = try tool()
        let silent = try tool.run("nodes", "--silent", "now", "--format", "csv", "--columns", "node")
        #expect(silent.lines == ["node", "!00000012", "!00000013"], "\(silent)")
        let page = try tool.run(
            "nodes", "--silent", "now", "--format", "csv", "--columns", "node", "--limit", "1", "--offset", "1")
        #expect(page.lines == ["node", "!00000013"] || page.lines == ["node", "!00000012"], "\(page)")
        let note = "(1 row of unknown time is left out; without a condition on the time, all are listed)"
        #expect(try tool.shown(["nodes", "--silent", "1d"], columns: 200).lines.contains { $0 == note })
        #expect(
            try tool.shown(["nodes", "--silent", "1d", "--since", "2025"], columns: 200).lines.count { $0.contains("left out") }
                == 1)
        let empty = try tool.run("nodes", "--silent", "1d", "--node", "!11")
        #expect(empty.status == 0 && empty.output.isEmpty && empty.errors == "no nodes\n\(note)\n", "\(empty)")
        #expect(try tool.run("nodes", "--silent", "1d", "--node", "!12").errors.isEmpty)
        #expect(try tool.run("nodes", "--silent", "1d").lines[0].contains("all time") == false)
    }

    @Test func `--as-of a time says how many packets of unknown time it leaves out, and that a node was not heard by then`()
        throws
    {
        let tool = try tool()
        for list in [["nodes"], ["packets"], ["messages"], ["sql", "SELECT * FROM nodes"]] {
            let past = try tool.start(list + ["--as-of", "2026-01-01"]).wait()
            #expect(past.status == 0 && !past.output.contains("!00000011"), "\(past)")
            #expect(past.errors.contains("; 2 packets of unknown time are left out"), "\(past)")
        }
        for point in ["4", "now"] { #expect(try !tool.run("nodes", "--as-of", point).errors.contains("left out"), "\(point)") }
        for list in ["nodes", "packets", "messages"] {
            let unheard = try tool.run(list, "--as-of", "2026-01-01", "--node", "!00000011")
            #expect(unheard.status == 66 && unheard.errors.contains("!00000011 was not heard"), "\(unheard)")
            #expect(unheard.errors.contains(" by then") && !unheard.errors.contains("never"), "\(unheard)")
        }
        #expect(try tool.run("nodes", "--node", "!00000099").errors.contains("was never heard"))
    }

    @Test func `--as-of a number that is a time since 1970 says how to write that time`() throws {
        let tool = try tool()
        let refused = try tool.run("nodes", "--as-of", "1757937579")
        #expect(refused.status == 66 && refused.errors.contains("there is no event 1757937579"), "\(refused)")
        #expect(
            refused.errors.contains("a number is an event's sequence; for that time, write 2025-09-15T11:59:39Z\n"), "\(refused)")
        #expect(try !tool.run("nodes", "--as-of", "77").errors.contains("write"))
    }
}
