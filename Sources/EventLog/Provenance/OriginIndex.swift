internal import LMDB

/// The origins of all events of a log.
package struct OriginIndex: Sendable {
    private var sets: [LedgerID: SequenceSet] = [:]
    /// Whether all events come from one log, and have the sequences that they had there.
    package private(set) var mirrored: LedgerID?

    /// - Parameter own: the log's identifier.
    package init(_ own: LedgerID, _ reader: borrowing LogReader, path: String) throws(EventLogError) {
        var ranges: [LedgerID: [ClosedRange<UInt64>]] = [:]
        var next: UInt64 = 1
        var isMirror = true
        func check(_ ledger: LedgerID, _ sequence: UInt64, at place: UInt64, _ mirrored: inout LedgerID?) {
            if sequence != place || mirrored ?? ledger != ledger { isMirror = false }
            mirrored = ledger
        }
        var problem: UInt64?
        if let table = reader.store.origins {
            try storing { () throws(StorageError) in
                var cursor = try reader.transaction.cursor(table)
                while try cursor.next() {
                    guard let first = SequenceKey.sequence(cursor.key), let runs = OriginRow.runs(cursor.value, first: first),
                        first >= next
                    else { return problem = next }
                    if first > next {
                        check(own, next, at: next, &mirrored)
                        ranges[own, default: []].extend(next...first - 1)
                    }
                    next = first
                    for run in runs {
                        check(run.ledger, run.first, at: next, &mirrored)
                        ranges[run.ledger, default: []].extend(run.first...run.last)
                        next += run.count
                    }
                }
            }
        }
        if let problem {
            throw EventLogError(.corrupt, path: path, detail: "the origins of the events from \(problem) on cannot be read")
        }
        let head = reader.head.rawValue
        if next <= head {
            check(own, next, at: next, &mirrored)
            ranges[own, default: []].extend(next...head)
        }
        if !isMirror { mirrored = nil }
        sets = ranges.mapValues { SequenceSet($0) }
    }

    package func contains(_ ledger: LedgerID, _ sequence: UInt64) -> Bool { sets[ledger]?.contains(sequence) ?? false }
}

extension [ClosedRange<UInt64>] {
    /// Adds a range, extending the last one if it follows directly.
    fileprivate mutating func extend(_ range: ClosedRange<UInt64>) {
        if let last, last.upperBound < .max, last.upperBound + 1 == range.lowerBound {
            self[count - 1] = last.lowerBound...range.upperBound
        } else {
            append(range)
        }
    }
}
