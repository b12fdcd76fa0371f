internal import LMDB
internal import ProtobufWire

/// The origins of all events of a log.
package struct OriginIndex: Sendable {
    /// Events that follow each other here as they do where they come from.
    fileprivate struct Run {
        var first: UInt64
        var last: UInt64
        /// The first one's sequence here.
        var place: UInt64
    }

    /// Of each ledger, ascending and apart.
    private var runs: [LedgerID: [Run]] = [:]
    /// Whether all events come from one log, and have the sequences that they had there.
    package private(set) var mirrored: LedgerID?

    /// - Parameter own: the log's identifier.
    package init(_ own: LedgerID, _ reader: borrowing LogReader, path: String) throws(EventLogError) {
        var runs: [LedgerID: [Run]] = [:]
        var next: UInt64 = 1
        var isMirror = true
        func check(_ ledger: LedgerID, _ sequence: UInt64, at place: UInt64, _ mirrored: inout LedgerID?) {
            if sequence != place || mirrored ?? ledger != ledger { isMirror = false }
            mirrored = ledger
        }
        func add(_ ledger: LedgerID, _ first: UInt64, _ last: UInt64, at place: UInt64) {
            runs[ledger, default: []].extend(Run(first: first, last: last, place: place))
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
                        add(own, next, first - 1, at: next)
                    }
                    next = first
                    for run in runs {
                        check(run.ledger, run.first, at: next, &mirrored)
                        add(run.ledger, run.first, run.last, at: next)
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
            add(own, next, head, at: next)
        }
        if !isMirror { mirrored = nil }
        self.runs = runs.mapValues(Self.apart)
    }

    /// Sorted, and what is there twice once.
    private static func apart(_ runs: [Run]) -> [Run] {
        var apart: [Run] = []
        for var run in runs.sorted(by: { $0.first < $1.first }) {
            if let last = apart.last?.last, run.first <= last {
                guard run.last > last else { continue }
                run.place += last + 1 - run.first
                run.first = last + 1
            }
            apart.append(run)
        }
        return apart
    }

    /// The sequence that an event has here; nil if it is not here.
    package func place(of ledger: LedgerID, _ sequence: UInt64) -> UInt64? {
        guard let runs = runs[ledger] else { return nil }
        let place = runs.partitioningIndex { $0.last >= sequence }
        guard place < runs.count, runs[place].first <= sequence else { return nil }
        return runs[place].place + (sequence - runs[place].first)
    }
}

extension [OriginIndex.Run] {
    /// Adds a run, extending the last one if it follows directly.
    fileprivate mutating func extend(_ run: Element) {
        if let last, last.last < .max, last.last + 1 == run.first, last.place + (run.first - last.first) == run.place {
            self[count - 1].last = run.last
        } else {
            append(run)
        }
    }
}
