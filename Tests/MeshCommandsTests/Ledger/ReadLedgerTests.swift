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
        let read = try Program.run(PackageRoot.url.appendingPathComponent("Tools/read-ledger"), [tool.ledger])
        #expect(read == exported)
        #expect(read.split(separator: "\n").count { $0.contains("\"erased\":true") } == 22)
        #expect(read.utf8.count > 100_000)
    }
}
