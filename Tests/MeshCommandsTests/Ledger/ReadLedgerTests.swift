import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct ReadLedgerTests {
    @Test func `a reader that knows only FORMAT.md prints what the export does, byte for byte`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--packets", "1500", "--seed", "9", "--bad", "60")
        try tool.run("erase", "--sequence", "100-120", "--sequence", "1490", "--yes")
        let exported = try tool.run("export", "events", "--format", "jsonl").output
        let process = Process()
        process.executableURL = PackageRoot.url.appendingPathComponent("Tools/read-ledger")
        process.arguments = [tool.ledger]
        let output = Pipe.ofOneChild()
        process.standardOutput = output
        try process.run()
        let read = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(read == exported)
        #expect(read.split(separator: "\n").count { $0.contains("\"erased\":true") } == 22)
        #expect(read.utf8.count > 100_000)
    }
}
