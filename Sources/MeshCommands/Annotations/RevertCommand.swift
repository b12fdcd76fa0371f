import ArgumentParser
import EventLog
import MeshViews

struct RevertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert", abstract: "Undo what was marked, noted or hidden, by another event.",
        discussion: """
            What the event changed gets the value that it had before, where it was not changed again since. Traffic cannot be undone.

              meshledger revert 4711
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The event's sequence, as the command told it and `meshledger events` lists it.") var sequence: UInt64

    func run() async throws {
        try await ledger.writing { ledger in
            let events = try await ledger.revert(EventSequence(sequence))
            let all = events.count == 1 ? "event \(events.lowerBound)" : "events \(events.lowerBound) to \(events.upperBound)"
            StandardOutput().line("event \(sequence) is undone by \(all)")
        }
    }
}
