import Foundation
import TestKit
import Testing

/// `erase` asks on a terminal: here on one that Python's `pty` makes.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(40)))
struct ErasePrompt {
    @Test func `on a terminal it names what goes and does nothing unless the answer is yes`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 17), Line.text("two", from: 18), Line.text("three", from: 19)])
        let before = try tool.run("export", "events").output
        for answer in ["no\\n", "\\n", "y\\n", "\\x04", "yes!\\n"] {
            let outcome = try tool.onTerminal(answer: answer, "erase", "--sequence", "2")
            #expect(outcome.text.contains("erase 1 event from 2 to 2 for good? [yes/no] "), "\(answer): \(outcome.text)")
            #expect(outcome.status != 0 && outcome.text.contains("nothing was erased"), "\(answer): \(outcome.text)")
            #expect(try tool.run("export", "events").output == before, "\(answer)")
        }
        let outcome = try tool.onTerminal(answer: "YES\\n", "erase", "--sequence", "2")
        #expect(outcome.status == 0 && outcome.text.contains("1 event erased"), "\(outcome.text)")
        #expect(try tool.run("export", "events").output != before)
        #expect(!(try tool.run("messages").output.contains("two")))
    }

    @Test func `at control-c nothing is erased`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 17), Line.text("two", from: 18)])
        let before = try tool.run("export", "events").output
        let outcome = try tool.onTerminal(answer: "\\x03", "erase", "--sequence", "2")
        #expect(outcome.status != 0)
        #expect(try tool.run("export", "events").output == before)
    }
}
