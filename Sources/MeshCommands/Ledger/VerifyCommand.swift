import ArgumentParser
import EventLog
import MeshViews

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check every record of the log, and that the views belong to it.",
        discussion: """
            Reads all records, compares their checksums, looks for gaps, and computes the Merkle tree anew. With the note of an older
            checkpoint it proves that today's log extends the log of then: nothing of it was changed, removed or put in between. Ends with
            status 1 when something is damaged or was rewritten.

              meshledger verify
              meshledger verify --checkpoint monday.note --key ledger.key
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(help: ArgumentHelp("The note of an older checkpoint.", valueName: "file"), completion: .file()) var checkpoint:
        String?
    @Option(
        help: ArgumentHelp("The public key that signed it, or a file that holds it; else the ledger's own.", valueName: "key"),
        completion: .file())
    var key: String?

    func validate() throws {
        if key != nil && checkpoint == nil { throw ValidationError("--key goes with --checkpoint") }
    }

    func run() async throws {
        let old = try checkpoint.map { path in
            let note = try NoteFile.note(path)
            let verifier = try key.map { try NoteFile.verifier($0) } ?? self.ledger.openLogForReading().verifier()
            guard note.isSigned(by: verifier) else {
                throw CommandError(.verificationFailed, "\(path) is not signed by the key of this ledger; see whose note it is")
            }
            guard let checkpoint = LogCheckpoint(note) else {
                throw CommandError(.badData, "\(path) is no checkpoint of a ledger")
            }
            return checkpoint
        }
        let ledger = try await ledger.openForReading()
        let bar = ProgressBar("verifying")
        let result = try ledger.log.verify(extending: old) { progress in
            let total = max(1, progress.total)
            bar.show(fraction: Double(progress.checked) / Double(total), done: UInt64(progress.checked), unit: "events")
            return true
        }
        bar.end()
        let strangers = try ledger.viewsBeyondLog()
        try await ledger.close()
        for problem in result.problems { StandardOutput.error(problem.description) }
        for view in strangers { StandardOutput.error("the view \(view) has seen events that the log does not hold") }
        let output = StandardOutput()
        output.line("\(result.eventsChecked) events with \(result.payloadBytes) bytes checked, \(result.problemCount) damaged")
        if let old, result.isIntact { output.line("today's log extends the checkpoint of \(old.size) events") }
        output.flush()
        if !result.isIntact || !strangers.isEmpty { throw ExitCode(ExitStatus.verificationFailed.rawValue) }
    }
}
