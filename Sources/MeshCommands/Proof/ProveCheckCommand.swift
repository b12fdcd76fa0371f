import ArgumentParser
import EventLog
import Foundation

struct ProveCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a proof without the ledger.",
        discussion: """
            Ends with status 1 when the proof does not hold. The key is the one line that `meshledger checkpoint --public-key` prints.

            A proof that a log extends an older one holds both notes; with --from and --to it has to be of those that you kept.

              meshledger prove check event.proof --key ledger.key
              meshledger prove check week.proof --key ledger.key --from monday.note
            """)

    @Argument(help: "The file that `meshledger prove` wrote.", completion: .file()) var file: String
    @Option(help: ArgumentHelp("The ledger's public key, or a file that holds it.", valueName: "key"), completion: .file())
    var key: String

    @Option(help: ArgumentHelp("The note of the older checkpoint, as you kept it.", valueName: "file"), completion: .file())
    var from: String?
    @Option(help: ArgumentHelp("The note of the newer checkpoint, as you kept it.", valueName: "file"), completion: .file())
    var to: String?

    func run() throws {
        let text = try NoteFile.text(file)
        if ConsistencyProof.isMeant(by: text) { return try checkConsistency(text) }
        guard from == nil, to == nil else { throw CommandError(.usage, "--from and --to go with a proof of two checkpoints") }
        guard let proof = InclusionProof(text) else {
            throw CommandError(.badData, "\(file) is not a proof; make one with `meshledger prove`")
        }
        let verifier = try NoteFile.verifier(key)
        let output = StandardOutput()
        defer { output.flush() }
        do throws(InclusionProof.Flaw) {
            let statement = try proof.check(verifier)
            let what = statement.payload.map { $0.count.counted("byte") } ?? "its bytes were erased"
            output.line(
                "event \(statement.sequence) (\(what), arrived \(TimeText.iso(microseconds: statement.arrivalTime.microseconds))) "
                    + "is in \(statement.checkpoint.origin), which had \(statement.checkpoint.size.counted("event"))")
            if let payload = statement.payload { output.line(Data(payload).base64EncodedString()) }
        } catch {
            throw CommandError(.verificationFailed, "\(file) proves nothing: \(Self.meaning(error))")
        }
    }

    private func checkConsistency(_ text: String) throws {
        guard let proof = ConsistencyProof(text) else {
            throw CommandError(.badData, "\(file) is not a proof; make one with `meshledger prove --from NOTE --to NOTE`")
        }
        let verifier = try NoteFile.verifier(key)
        for (path, own) in [(from, proof.old), (to, proof.new)] {
            guard let path else { continue }
            let note = try NoteFile.note(path)
            guard note.isSigned(by: verifier), note.text == own.text else {
                throw CommandError(.verificationFailed, "\(file) is not of the checkpoint in \(path)")
            }
        }
        do throws(ConsistencyProof.Flaw) {
            let (old, new) = try proof.check(verifier)
            StandardOutput().line(
                "\(new.origin) with \(new.size.counted("event")) begins with the \(old.size.counted("event")) of the older checkpoint: nothing of them was changed"
            )
        } catch {
            let reason =
                switch error {
                case .signature: "its checkpoints are not signed by this key"
                case .checkpoint: "its notes are not checkpoints of one ledger"
                case .path: "its hashes do not lead from one root to the other"
                }
            throw CommandError(.verificationFailed, "\(file) proves nothing: \(reason)")
        }
    }

    private static func meaning(_ flaw: InclusionProof.Flaw) -> String {
        switch flaw {
        case .signature: "its checkpoint is not signed by this key"
        case .checkpoint: "its note is not a checkpoint of a ledger"
        case .event: "the event is not the one that it names, or its bytes were changed"
        case .path: "its hashes do not lead from the event to the checkpoint's root"
        }
    }
}
