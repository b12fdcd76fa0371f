import Foundation
import TestKit
import Testing

/// `erase` asks on a terminal: here on one that Python's `pty` makes.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(15)))
struct ErasePrompt {
    private static let script = PackageRoot.url.appendingPathComponent("Tests/Oracle/on_terminal.py").path

    private func onTerminal(_ tool: Tool, answer: String, _ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", Self.script, answer, Tool.program.path] + arguments
        process.environment = ProcessInfo.commandEnvironment(ledger: tool.ledger, home: tool.folder.path)
        let output = Pipe.ofOneChild()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test func `on a terminal it names what goes and does nothing unless the answer is yes`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 17), Line.text("two", from: 18), Line.text("three", from: 19)])
        let before = try tool.run("export", "events").output
        for answer in ["no\\n", "\\n", "y\\n", "\\x04", "yes!\\n"] {
            let outcome = try onTerminal(tool, answer: answer, "erase", "--sequence", "2")
            #expect(outcome.output.contains("erase 1 event from 2 to 2 for good? [yes/no] "), "\(answer): \(outcome.output)")
            #expect(outcome.status != 0 && outcome.output.contains("nothing was erased"), "\(answer): \(outcome.output)")
            #expect(try tool.run("export", "events").output == before, "\(answer)")
        }
        let outcome = try onTerminal(tool, answer: "YES\\n", "erase", "--sequence", "2")
        #expect(outcome.status == 0 && outcome.output.contains("1 event erased"), "\(outcome.output)")
        #expect(try tool.run("export", "events").output != before)
        #expect(!(try tool.run("messages").output.contains("two")))
    }

    @Test func `at control-c nothing is erased`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 17), Line.text("two", from: 18)])
        let before = try tool.run("export", "events").output
        let outcome = try onTerminal(tool, answer: "\\x03", "erase", "--sequence", "2")
        #expect(outcome.status != 0)
        #expect(try tool.run("export", "events").output == before)
    }
}
