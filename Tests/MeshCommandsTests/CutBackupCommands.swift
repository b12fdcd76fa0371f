import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(15)))
struct CutBackupCommands {
    private static let questions = [
        ["nodes", "--format", "jsonl"], ["positions", "--format", "jsonl"], ["telemetry", "--format", "jsonl"],
        ["messages", "--format", "jsonl"], ["events", "--format", "jsonl"], ["view", "digest"], ["retain"],
        ["consumers", "--format", "jsonl"],
    ]

    private func answers(_ tool: Tool, _ ledger: String) throws -> [String] {
        try Self.questions.map { question in
            let outcome = try tool.start(question, environment: ["MESHLEDGER": ledger]).wait()
            #expect(outcome.status == 0, "\(question): \(outcome.errors)")
            return outcome.output
        }
    }

    @Test func `a restored ledger that was cut answers every query as the original, and after a rebuild`() throws {
        let tool = try Tool()
        let (backup, copy) = (tool.folder.path + "/backup", tool.folder.path + "/copy")
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "3000")
        let note = tool.folder.file("monday.note")
        try Data(tool.run("checkpoint").output.utf8).write(to: note)
        let key = tool.folder.file("ledger.key")
        try Data(tool.run("checkpoint", "--public-key").output.utf8).write(to: key)
        try tool.run("follow", "--consumer", "nightly", "--no-follow")
        try tool.run("retain", "--larger-than", "150kB", "--yes")
        try tool.run("retain", "--policy", "--older-than", "3650d")
        let outcome = try tool.run("backup", "--with-keys", "--with-signing-key", backup)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(try tool.run("backup", "--verify", backup).output.contains("all intact"))
        let before = try answers(tool, tool.ledger)
        #expect(try tool.run("restore", backup, copy).status == 0)
        #expect(try answers(tool, copy) == before)
        let rebuilt = try tool.start(["rebuild"], environment: ["MESHLEDGER": copy]).wait()
        #expect(rebuilt.status == 0, "\(rebuilt.errors)")
        #expect(try answers(tool, copy) == before)
        let verified = try tool.start(
            ["verify", "--checkpoint", note.path, "--key", key.path], environment: ["MESHLEDGER": copy]
        ).wait()
        #expect(verified.status == 0 && verified.output.contains("extends the checkpoint"), "\(verified.errors)")
    }
}
