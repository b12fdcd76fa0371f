import Foundation
import TestKit
import Testing

/// Commands that wait for news, in a pipe whose reader goes away.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(5)))
struct ReaderTests {
    @Test(arguments: [
        "packets --follow --since 1y", "events --follow --since 1y", "follow --consumer reader",
        "follow --consumer reader --view nodes",
    ])
    func `a command that waits ends when its reader has gone, before there is more to write`(_ command: String) throws {
        let tool = try Tool(holding: [Line.text("one", from: 1)])
        let shell = ["/bin/sh", "-c", "\"$0\" \"$@\" | head -n 1", Tool.program.path]
        let outcome = try tool.start(command.split(separator: " ").map(String.init), by: shell).wait()
        #expect(outcome.lines.count == 1, "\(outcome)")
    }

    @Test func `a file in place of the reader is written until a signal comes`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 1)])
        let file = tool.folder.file("rows.jsonl").path
        let closed = ["/bin/sh", "-c", "exec \"$0\" \"$@\" >&-", Tool.program.path]
        let running = try tool.start(
            ["events", "--follow", "--since", "1y", "--format", "jsonl", "--output", file], by: closed)
        try waitUntil { FileManager.default.contents(atPath: file)?.isEmpty == false }
        running.process.terminate()
        #expect(try running.wait().status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").count == 1)
    }
}
