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
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.hasPrefix("\(sequence) "))
            #expect(stranger.lines.last.map { outcome.output.contains($0) } == true)
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

    private func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let output = Pipe.ofOneChild()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
