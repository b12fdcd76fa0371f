internal import LMDB

/// Returns the origins of events, fastest in the order of their sequences.
package struct OriginReader: Sendable {
    private let own: LedgerID
    private var runs: [OriginRun] = []
    /// The events that the row covers, or those before the next row.
    private var range: ClosedRange<UInt64>?
    private var isRow = false
    /// The place in the row: a run, and the run's first event.
    private var place = (run: 0, first: 0 as UInt64)

    /// - Parameter own: the log that is being read.
    package init(own: LedgerID) { self.own = own }

    /// The log to which the event was first appended, and its sequence there.
    package mutating func origin(
        of sequence: UInt64, _ reader: borrowing LogReader
    ) throws(EventLogError) -> (ledger: LedgerID, sequence: UInt64) {
        if range?.contains(sequence) != true { try load(sequence, reader) }
        guard isRow, let range else { return (own, sequence) }
        if sequence < place.first { place = (0, range.lowerBound) }
        while sequence - place.first >= runs[place.run].count {
            place = (place.run + 1, place.first + runs[place.run].count)
        }
        let run = runs[place.run]
        return (run.ledger, run.first + (sequence - place.first))
    }

    private mutating func load(_ sequence: UInt64, _ reader: borrowing LogReader) throws(EventLogError) {
        isRow = false
        guard let table = reader.store.origins else { return range = 0 ... .max }
        let key = SequenceKey(sequence)
        var end = UInt64.max
        var found: (first: UInt64, runs: [OriginRun])?
        let isDamaged = try storing { () throws(StorageError) -> Bool in
            var cursor = try reader.transaction.cursor(table)
            if try cursor.seek(atOrAfter: key.span), let next = SequenceKey.sequence(cursor.key), next > sequence {
                end = next - 1
            }
            guard try cursor.seek(atOrBefore: key.span), let first = SequenceKey.sequence(cursor.key) else { return false }
            guard let runs = OriginRow.runs(cursor.value, first: first) else { return true }
            found = (first, runs)
            return false
        }
        if isDamaged {
            throw EventLogError(
                .corrupt, path: reader.store.environment.path, detail: "the origin of event \(sequence) cannot be read")
        }
        if let found, sequence - found.first < found.runs.eventCount {
            range = found.first...(found.first + found.runs.eventCount - 1)
            runs = found.runs
            isRow = true
            place = (0, found.first)
        } else {
            range = sequence...end
        }
    }
}

/// Where an event was first appended.
public struct EventOrigin: Sendable, Hashable {
    /// The identifier of the log.
    public let ledger: String
    /// Its sequence there.
    public let sequence: EventSequence

    public init(ledger: String, sequence: EventSequence) {
        self.ledger = ledger
        self.sequence = sequence
    }
}

extension EventLog {
    /// Where the event was first appended: in this log, unless it was imported from another one or merged.
    /// - Throws: `.tooFewEvents` and errors of the file.
    public func origin(of sequence: EventSequence) throws(EventLogError) -> EventOrigin {
        let reader = try beginRead()
        guard sequence >= EventSequence(1), sequence <= reader.head else {
            throw EventLogError(
                .tooFewEvents, path: path, detail: "it ends with event \(reader.head) and has no event \(sequence)")
        }
        var origins = OriginReader(own: try ledgerID)
        let origin = try origins.origin(of: sequence.rawValue, reader)
        return EventOrigin(ledger: origin.ledger.text, sequence: EventSequence(origin.sequence))
    }

    package var ledgerID: LedgerID {
        get throws(EventLogError) {
            guard let id = LedgerID(identifier) else {
                throw EventLogError(.corrupt, path: path, detail: "its identifier \(identifier) does not have 16 bytes")
            }
            return id
        }
    }
}
