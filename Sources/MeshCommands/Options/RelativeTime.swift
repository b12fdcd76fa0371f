import ArgumentParser
import EventLog
import MeshLedger

/// A point in time; `1d` is a day before the time as of which the ledger is read.
struct RelativeTime {
    private let text: String
    private let written: TimeArgument

    /// - Throws: an error that says which forms are accepted.
    static func parsed(_ text: String) throws -> RelativeTime { RelativeTime(text: text, written: try TimeArgument.parsed(text)) }

    func time(in ledger: Ledger) -> Timestamp {
        (ledger.asOfTime.flatMap { TimeArgument(text, now: $0) } ?? written).time
    }
}
