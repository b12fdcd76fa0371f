import Foundation
import TestKit
import Testing

@testable import MeshCommands

/// Counts in what commands say.
struct Singulars {
    @Test func `one is one, and many are grouped`() {
        #expect(1.counted("event") == "1 event" && 0.counted("event") == "0 events" && 1_204.counted("byte") == "1,204 bytes")
        #expect(UInt64(1).counted("is", "are") == "1 is" && 2_000.counted("file is", "files are") == "2,000 files are")
    }

    private static let fault =
        "(^|[^0-9,.])1 ((events|packets|nodes|rows|files|records|parts|bytes|ledgers|keys|views|sources|receptions|days|channels)\\b|are |were )"

    @Test(.enabled(if: Tool.isBuilt, "needs the built command"))
    func `no refusal speaks of one thing as of many`() throws {
        let (tool, other) = (try Tool(holding: [Line.text("hello", from: 7)]), try Tool(holding: [Line.text("hi", from: 8)]))
        let (note, byte) = (tool.folder.file("note").path, tool.folder.file("byte").path)
        try Data(other.run("checkpoint").output.utf8).write(to: URL(fileURLWithPath: note))
        try Data("x".utf8).write(to: URL(fileURLWithPath: byte))
        let refused = [
            ["prove", "9"], ["prove", "--from", note, "--to", note], ["checkpoint", "--size", "9"],
            ["verify", "--checkpoint", note], ["import", "--format", "jsonl", byte],
        ]
        for command in refused {
            let outcome = try tool.start(command).wait()
            #expect(outcome.status != 0 && outcome.status != 64, "\(command): \(outcome)")
            #expect(try Regex(Self.fault).firstMatch(in: outcome.output + outcome.errors) == nil, "\(command): \(outcome)")
        }
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built command"))
    func `no command speaks of one thing as of many`() throws {
        let tool = try Tool(holding: [Line.text("hello", from: 7)])
        let (copy, recording) = (tool.folder.file("copy").path, tool.folder.file("recording").path)
        let (restored, merged) = (tool.folder.file("restored").path, tool.folder.file("merged").path)
        let commands = [
            ["backup", copy], ["backup", copy, "--verify"], ["restore", copy, restored], ["verify"], ["stats"],
            ["nodes", "timeline", "!7"],
            ["export", "--format", "ledger", recording], ["import", recording], ["seal"], ["packet", "show", "1"],
            ["merge", tool.ledger, restored, "--into", merged], ["storage", "retain", "--older-than", "1d", "--dry-run"],
            ["storage", "limit", "1B"], ["storage", "limit", "--off"], ["storage", "compact"],
            ["salvage", tool.ledger, copy + "2"],
            ["view", "rebuild"], ["export", "all", "--format", "csv", "-o", copy + "3"], ["lake", "write", copy + "4"],
            ["lake", "verify", copy + "4"], ["simulate", "--packets", "1", "--nodes", "2"],
            ["erase", "--sequence", "1", "--yes"],
            ["packet", "show", "3"], ["verify"], ["events", "--columns", "sequence,failure"],
        ]
        for command in commands {
            let outcome = try tool.start(command).wait()
            #expect(outcome.status != 64, "\(command): \(outcome)")
            #expect(try Regex(Self.fault).firstMatch(in: outcome.output + outcome.errors) == nil, "\(command): \(outcome)")
        }
    }
}
