import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(40)))
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

    @Test func `a backup says which keys of an earlier run it still has`() throws {
        let tool = try Tool()
        let backup = tool.folder.path + "/backup"
        try tool.run("init")
        try tool.run("keys", "add", "Hike", "--psk", "AQ==")
        #expect(try tool.run("backup", backup).output.contains("earlier run") == false)
        #expect(try tool.run("backup", "--with-keys", backup).output.contains("earlier run") == false)
        let again = try tool.run("backup", backup)
        #expect(
            again.status == 0
                && again.output.contains("the channel keys of an earlier run stayed in it: remove \(backup)/keys.json"),
            "\(again)")
        #expect(try tool.run("keys", "add", "", "--psk", "AQ==").status == 64, "a channel without a name")
    }

    @Test func `a backup never gives up dropped events of which a file is damaged or missing`() throws {
        let tool = try Tool()
        let backup = tool.folder.path + "/backup"
        let manager = FileManager.default
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "17000")
        #expect(try tool.run("backup", backup).status == 0)
        try tool.run("retain", "--larger-than", "150kB", "--yes")
        try tool.run("simulate", "--seed", "6", "--nodes", "5", "--packets", "100")
        #expect(try tool.run("backup", backup).status == 0)
        let parts = try manager.contentsOfDirectory(atPath: backup + "/parts").sorted()
        #expect(parts.count == 2)

        func isRefused(_ command: String...) throws -> String {
            let refused = try tool.start(command).wait()
            #expect(refused.status != 0, "\(command)")
            return refused.errors
        }
        for name in ["manifest", "parts/" + parts[0]] {
            try manager.moveItem(atPath: "\(backup)/\(name)", toPath: backup + "/away")
            #expect(try isRefused("backup", backup).contains("put the file back"))
            let what = name == "manifest" ? "no backup was ever completed" : "it is missing from the backup"
            #expect(try isRefused("backup", "--verify", backup).contains(what), "\(name)")
            try manager.moveItem(atPath: backup + "/away", toPath: "\(backup)/\(name)")
            #expect(try tool.run("backup", "--verify", backup).output.contains("all intact"), "\(name)")
        }

        let first = backup + "/parts/" + parts[0]
        try manager.moveItem(atPath: first, toPath: backup + "/away")
        try manager.createSymbolicLink(atPath: first, withDestinationPath: backup + "/away")
        #expect(try isRefused("backup", backup).contains("put the file back"))
        try manager.removeItem(atPath: first)
        try manager.moveItem(atPath: backup + "/away", toPath: first)

        // Of what the ledger still has, the advice helps.
        let last = URL(fileURLWithPath: backup + "/parts/" + parts[1])
        var bytes = try Data(contentsOf: last)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: last)
        #expect(try isRefused("backup", "--verify", backup).contains("move it away and run `meshledger backup` again"))
        try manager.removeItem(at: last)
        #expect(try tool.run("backup", backup).status == 0)
        #expect(try tool.run("backup", "--verify", backup).output.contains("all intact"))
        #expect(try tool.run("restore", backup, tool.folder.path + "/whole").status == 0)
    }

    @Test func `copies of what a ledger still has say what they lack`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "3000")
        let (recording, other) = (tool.folder.path + "/recording", tool.folder.path + "/other")
        #expect(try tool.run("export", "--format", "ledger", recording).errors.isEmpty)
        try tool.run("retain", "--larger-than", "150kB", "--yes")
        #expect(try tool.run("init", other).status == 0)
        for command in [
            ["export", "--format", "ledger", recording], ["merge", tool.ledger, other, "--into", tool.folder.path + "/merged"],
        ] {
            let outcome = try tool.start(command).wait()
            #expect(outcome.status == 0 && outcome.errors.contains("has dropped events 1 to "), "\(command): \(outcome)")
        }
    }
}
