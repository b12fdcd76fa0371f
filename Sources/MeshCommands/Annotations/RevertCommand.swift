import ArgumentParser
import EventLog
import MeshLedger

struct RevertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert", abstract: "Undo a mark, a note, or hiding.",
        discussion: """
            Everything that the event changed gets its previous value, unless it was changed again since. Traffic cannot be undone.

              meshledger revert 4711
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The event's sequence, as printed by the command and listed by `meshledger events`.") var sequence: UInt64

    func run() async throws {
        try await ledger.writing { ledger in
            let events = try await ledger.revert(EventSequence(sequence))
            let all = events.count == 1 ? "event \(events.lowerBound)" : "events \(events.lowerBound) to \(events.upperBound)"
            StandardOutput().line("event \(sequence) is undone by \(all)")
        }
    }
}
