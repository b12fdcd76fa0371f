import ArgumentParser
import EventLog
import MeshLedger

/// A point in time; `1d` is a day before the time as of which the ledger is read.
struct RelativeTime: ExpressibleByArgument {
    private let text: String
    private let written: TimeArgument

    init?(argument: String) {
        guard let written = TimeArgument(argument) else { return nil }
        (text, self.written) = (argument, written)
    }

    func time(in ledger: Ledger) -> Timestamp {
        (ledger.asOfTime.flatMap { TimeArgument(text, now: $0) } ?? written).time
    }
}
