import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct ProofTests {
    private func ledger(_ packets: Int) throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "3", "--nodes", "10", "--packets", "\(packets)")
        return tool
    }

    private func save(_ tool: Tool, _ name: String, _ arguments: String...) throws -> String {
        let outcome = try tool.start(arguments).wait()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let file = tool.folder.file(name)
        try Data(outcome.output.utf8).write(to: file)
        return file.path
    }

    @Test func `D23: a proof holds without the ledger, and for an implementation of someone else`() throws {
        let tool = try ledger(700)
        let key = try save(tool, "ledger.key", "checkpoint", "--public-key")
        for sequence in ["1", "256", "300", "700"] {
            let proof = try save(tool, "\(sequence).proof", "prove", sequence)
            let stranger = try tool.run("verify-proof", proof, "--key", key, environment: ["MESHLEDGER": "/nonexistent"])
            #expect(stranger.status == 0, "\(stranger.errors)")
            #expect(stranger.output.hasPrefix("event \(sequence) "))
            let outcome = try run(
                "/usr/bin/env",
                ["python3", PackageRoot.url.appendingPathComponent("Tests/Oracle/verify_proof.py").path, proof, key])
            #expect(outcome.status == 0, "\(outcome.text)")
            #expect(outcome.text.hasPrefix("\(sequence) "))
            #expect(stranger.lines.last.map { outcome.text.contains($0) } == true)
        }
        // The other implementation refuses as well.
        let forged = tool.folder.file("forged.proof")
        let note = try String(contentsOf: tool.folder.file("300.proof"), encoding: .utf8)
        try Data(note.replacingOccurrences(of: "\n700\n", with: "\n701\n").utf8).write(to: forged)
        let program = PackageRoot.url.appendingPathComponent("Tests/Oracle/verify_proof.py").path
        #expect(try run("/usr/bin/env", ["python3", program, forged.path, key]).status == 1)
        let other = try ledger(5)
        let otherKey = try save(other, "other.key", "checkpoint", "--public-key")
        let refused = try tool.run("verify-proof", tool.folder.file("300.proof").path, "--key", otherKey)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("not signed by this key"))
        #expect(try tool.run("verify-proof", key, "--key", key).status == 65)
        #expect(try tool.run("prove", "5000").status == 66)
    }

    @Test func `D23: verify shows that a grown ledger extends an older checkpoint, and another one does not`() throws {
        let tool = try ledger(400)
        let key = try save(tool, "ledger.key", "checkpoint", "--public-key")
        let note = try save(tool, "monday.note", "checkpoint")
        try tool.run("import", tool.write([Line.text("later", from: 7)]))
        let grown = try tool.run("verify", "--checkpoint", note, "--key", key)
        #expect(grown.status == 0, "\(grown.errors)")
        #expect(grown.output.contains("extends the checkpoint of 400 events"))
        let other = try ledger(400)
        let refused = try other.run("verify", "--checkpoint", note, "--key", key)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("another ledger"))
        #expect(try other.run("verify", "--checkpoint", note).status == 1)
    }

    @Test
    func `D23: who holds two notes and no ledger sees that one extends the other, also with an implementation of someone else`()
        throws
    {
        let tool = try ledger(400)
        let key = try save(tool, "ledger.key", "checkpoint", "--public-key")
        let old = try save(tool, "monday.note", "checkpoint")
        #expect(try String(contentsOfFile: old, encoding: .utf8).split(separator: "\n").count == 4, "three lines and a signature")
        try tool.run("import", tool.write([Line.text("later", from: 7)]))
        let new = try save(tool, "friday.note", "checkpoint")
        let proof = try save(tool, "week.proof", "prove", "--from", old, "--to", new)
        let nowhere = ["MESHLEDGER": "/nonexistent"]
        let program = PackageRoot.url.appendingPathComponent("Tests/Oracle/verify_proof.py").path
        for arguments in [[], ["--from", old], ["--from", old, "--to", new]] {
            let outcome = try tool.start(["verify-proof", proof, "--key", key] + arguments, environment: nowhere).wait()
            #expect(outcome.status == 0 && outcome.output.contains("with 401 events begins with the 400"), "\(outcome)")
        }
        let python = try run("/usr/bin/env", ["python3", program, proof, key])
        #expect(python.status == 0 && python.text == "400 401\n", "\(python)")
        #expect(try tool.run("verify-proof", proof, "--key", key, "--from", new, environment: nowhere).status == 1)
        let other = try ledger(401)
        let otherNote = try save(other, "other.note", "checkpoint")
        #expect(try other.run("prove", "--from", old, "--to", otherNote).status == 1)
        #expect(try tool.run("prove", "--from", new, "--to", old).status != 0)
        let forged = tool.folder.file("forged.proof")
        let lines = try String(contentsOfFile: proof, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        try Data((lines.prefix(1) + lines.dropFirst(2)).joined(separator: "\n").utf8).write(to: forged)
        #expect(try tool.run("verify-proof", forged.path, "--key", key).status == 1)
        #expect(try run("/usr/bin/env", ["python3", program, forged.path, key]).status == 1)

        let named = try save(tool, "named.note", "checkpoint", "--origin", "mesh.example.org/harbour")
        #expect(try String(contentsOfFile: named, encoding: .utf8).hasPrefix("mesh.example.org/harbour\n401\n"))
        let namedKey = try save(tool, "named.key", "checkpoint", "--public-key", "--origin", "mesh.example.org/harbour")
        #expect(try tool.run("verify", "--checkpoint", named, "--key", namedKey).status == 0)
        #expect(try tool.run("verify", "--checkpoint", named, "--key", key).status == 1)
        #expect(try other.run("verify", "--checkpoint", named, "--key", namedKey).status == 1)
        #expect(try tool.run("checkpoint", "--origin", "https://mesh.example.org").status == 64)
    }

    private func run(_ program: String, _ arguments: [String]) throws -> FinishedProcess {
        try FinishedProcess(URL(fileURLWithPath: program), arguments)
    }
}
