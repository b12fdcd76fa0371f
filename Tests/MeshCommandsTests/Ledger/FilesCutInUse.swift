import Foundation
import TestKit
import Testing

/// Files of a ledger that somebody cuts short while a process uses them.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct FilesCutInUse {
    @Test(arguments: [["ingest", "file", "FILE", "--follow"], ["packets", "--follow"]])
    func `a ledger whose log is cut short under a command ends it with one plain line and 65`(_ command: [String]) throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--nodes", "20", "--packets", "5000")
        let file = try tool.write([Line.text("hello", from: 7)])
        let running = try tool.start(command.map { $0 == "FILE" ? file : $0 })
        defer { kill(running.process.processIdentifier, SIGKILL) }
        // The reader prints the header of its table.
        try waitUntil {
            try !running.process.isRunning || text(running.errors).contains("following") || !text(running.output).isEmpty
        }
        let data = URL(fileURLWithPath: tool.ledger + "/log/1/data.mdb")
        let before = try Data(contentsOf: data)
        #expect(unsafe truncate(data.path, 8_192) == 0)
        try tool.append([Line.text("more", from: 8)], to: file)
        let outcome = try running.wait()
        #expect(running.process.terminationReason == .exit && outcome.status == 65, "\(outcome)")
        let lines = outcome.errors.split(whereSeparator: \.isNewline).filter { !$0.contains("following") }
        #expect(lines.count == 1, "\(outcome)")
        #expect(lines.last?.hasPrefix("meshledger: a file of the ledger was cut short") == true, "\(outcome)")
        #expect(lines.last?.contains("meshledger verify") == true, "\(outcome)")
        try before.write(to: data)
        #expect(try tool.run("verify").status == 0)
    }

    private func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    @Test func `a signal of that kind that another process sends ends a command as it does by default`() throws {
        let tool = try Tool()
        try tool.run("init")
        let pipe = Pipe.ofOneChild()
        let running = try tool.start(["import", "-"], input: pipe.fileHandleForReading)
        // Once it reads, its own handler is in the place of the Swift runtime's.
        pipe.fileHandleForWriting.write(Data("{".utf8))
        try waitUntil { pipe.unreadCount == 0 }
        kill(running.process.processIdentifier, SIGBUS)
        let outcome = try running.wait()
        try pipe.fileHandleForWriting.close()
        #expect(running.process.terminationReason == .uncaughtSignal && outcome.status == SIGBUS, "\(outcome)")
        #expect(!outcome.errors.contains("cut short"), "\(outcome)")
    }
}
