import ArgumentParser
import EventLog
import Foundation

struct VerifyProofCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify-proof", abstract: "Check a proof without the ledger.",
        discussion: """
            Ends with status 1 when the proof does not hold. The key is the one line that `meshledger checkpoint --public-key` prints.

              meshledger verify-proof event.proof --key ledger.key
            """)

    @Argument(help: "The file that `meshledger prove` wrote.", completion: .file()) var file: String
    @Option(help: ArgumentHelp("The ledger's public key, or a file that holds it.", valueName: "key"), completion: .file())
    var key: String

    func run() throws {
        guard let proof = InclusionProof(try NoteFile.text(file)) else {
            throw CommandError(.badData, "\(file) is no proof; make one with `meshledger prove`")
        }
        let verifier = try NoteFile.verifier(key)
        let output = StandardOutput()
        defer { output.flush() }
        do throws(InclusionProof.Flaw) {
            let statement = try proof.check(verifier)
            let what = statement.payload.map { "\($0.count) bytes" } ?? "its bytes were erased"
            output.line(
                "event \(statement.sequence) (\(what), arrived \(TimeText.iso(microseconds: statement.arrivalTime.microseconds))) "
                    + "is in \(statement.checkpoint.origin), which had \(statement.checkpoint.size) events")
            if let payload = statement.payload { output.line(Data(payload).base64EncodedString()) }
        } catch {
            throw CommandError(.verificationFailed, "\(file) proves nothing: \(Self.meaning(error))")
        }
    }

    private static func meaning(_ flaw: InclusionProof.Flaw) -> String {
        switch flaw {
        case .signature: "its checkpoint is not signed by this key"
        case .checkpoint: "its note is no checkpoint of a ledger"
        case .event: "the event is not the one that it names, or its bytes were changed"
        case .path: "its hashes do not lead from the event to the checkpoint's root"
        }
    }
}
