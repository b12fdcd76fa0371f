import ArgumentParser
import EventLog

struct ProveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove", abstract: "Make and check proofs that need no ledger.",
        discussion: """
            The proof of an event shows its bytes, and nothing of any other event. With two notes of `meshledger checkpoint` it proves that nothing of
            the first note's events was changed, removed or inserted until the second, and shows no event. `prove check` checks both, without the ledger.

              meshledger prove 4711 > event.proof
              meshledger prove --from monday.note --to friday.note > week.proof
              meshledger prove check event.proof --key ledger.key
            """,
        subcommands: [ProveMakeCommand.self, ProveCheckCommand.self], defaultSubcommand: ProveMakeCommand.self)
}

struct ProveMakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "A proof that an event is in the log, or that a log extends an older one, for a verifier without the ledger.")

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The event's sequence.") var sequence: UInt64?
    @Option(help: ArgumentHelp("The note of the older checkpoint.", valueName: "file"), completion: .file()) var from: String?
    @Option(help: ArgumentHelp("The note of the newer checkpoint.", valueName: "file"), completion: .file()) var to: String?

    func validate() throws {
        guard (sequence == nil) == (from != nil), (from == nil) == (to == nil) else {
            throw ValidationError("name an event, or two notes with --from and --to")
        }
    }

    func run() async throws {
        if let from, let to { return try await proveConsistency(try NoteFile.note(from), try NoteFile.note(to)) }
        guard let sequence else { return }
        let log = try ledger.openLogForReading()
        guard sequence > 0, sequence <= log.head.rawValue else {
            throw CommandError(noEvent: sequence, lastOne: log.head.rawValue)
        }
        let proof = try log.proof(of: EventSequence(sequence))
        await log.close()
        let output = StandardOutput()
        output.write(proof.description)
        output.flush()
    }

    private func proveConsistency(_ old: SignedNote, _ new: SignedNote) async throws {
        let log = try ledger.openLogForReading()
        let proof: ConsistencyProof
        do {
            proof = try log.consistencyProof(from: old, to: new)
        } catch {
            await log.close()
            throw error.code == .forked ? CommandError(.verificationFailed, error.description) : error
        }
        await log.close()
        let output = StandardOutput()
        output.write(proof.description)
        output.flush()
    }
}
