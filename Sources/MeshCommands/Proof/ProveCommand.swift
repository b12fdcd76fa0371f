import ArgumentParser
import EventLog

struct ProveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove", abstract: "A proof that an event is in the log, for someone who has no ledger.",
        discussion: """
            The proof shows the event's bytes, and nothing of any other event. `verify-proof` checks it.

              meshledger prove 4711 > event.proof
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The event's sequence.") var sequence: UInt64

    func run() async throws {
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
}
