public import EventLog
import LMDB
import MeshViews
public import Projections
import ProtobufWire
public import ViewQuery

extension Ledger.Changes {
    /// Rows of a view that events after this one stored or removed, each in its current state, or as removed. Only these are read.
    ///
    /// The result may include rows of earlier events that were committed together with later ones: changes within one flush are not distinguished.
    ///
    /// - Parameter limit: how many changes are examined; `fetch(of:since:limit:)` continues after them.
    /// - Throws: `.changesLost` if they are no longer kept (see `LedgerOptions.changesKept`).
    public func fetch(
        of view: String, sinceEvent sequence: EventSequence, limit: Int = 1_000
    ) throws(LedgerError) -> ViewChanges {
        let position = try ledger.reading(view) { (store) throws(StorageError) in
            try store.changePosition(afterEvent: sequence.rawValue)
        }
        guard let position else {
            throw LedgerError(
                .changesLost, path: ledger.path,
                "changes of the view \(view) after the event \(sequence.rawValue) are no longer kept; read all of its rows")
        }
        return try fetch(of: view, since: position, limit: limit)
    }

    /// The rows of a type that events after this one stored, each in its current state: see `fetch(of:sinceEvent:limit:)`.
    /// - Throws: `.changesLost` if the changes are no longer kept, and errors of the file.
    public func rows<Row: QueryRow>(
        _ rows: Row.Type = Row.self, sinceEvent sequence: EventSequence
    ) throws(LedgerError) -> [Row] {
        let changes = try fetch(of: Row.view, sinceEvent: sequence, limit: .max).changes
        var found: [Row] = []
        for change in changes where change.table == Row.table {
            guard let value = change.value else { continue }
            guard let row = Row(key: change.key.rawSpan, value: value.rawSpan) else {
                throw LedgerError(
                    .corrupt, path: ledger.path, "a row of \(Row.view) cannot be read; run `meshledger view rebuild`")
            }
            found.append(row)
        }
        return found
    }

    /// The changes of a view's rows over a period, including deletions: each row as it was before, and as it was at the end. Rows that were both added and
    /// removed within the period are not included.
    ///
    /// ```swift
    /// for change in try ledger.changes.fetch(of: "messages", in: noon...evening) where change.new == nil { print("gone", change.key) }
    /// ```
    /// Both states are built as by `asOf`, so it may take as long as two rebuilds of that view.
    ///
    /// - Parameter times: when the events were heard, both ends included: times of the mesh, see `PointInTime`.
    /// - Throws: what `asOf` throws.
    public func fetch(
        of view: String, in times: ClosedRange<Timestamp>
    ) throws(LedgerError) -> [RowDifference] {
        let start = Timestamp(microseconds: times.lowerBound.microseconds - (times.lowerBound.microseconds > .min ? 1 : 0))
        return try fetch(of: view, from: .time(start), through: .time(times.upperBound))
    }

    /// The changes of a view's rows by events between two points: see `fetch(of:in:)`.
    /// - Throws: what `asOf` throws.
    public func fetch(of view: String, from start: PointInTime, through end: PointInTime) throws(LedgerError) -> [RowDifference] {
        let definition = try ledger.definition(view)
        let (before, after) = (try ledger.asOf(start), try ledger.asOf(end))
        defer {
            before.past?.close()
            after.past?.close()
        }
        let (old, new) = (try before.store(of: view), try after.store(of: view))
        var found: [RowDifference] = []
        try ledger.wrappingErrors {
            for table in definition.rowTables {
                _ = try RowMerge(old, new, table: table).run { difference in
                    found.append(difference)
                    return true
                }
            }
        }
        return found
    }
}
