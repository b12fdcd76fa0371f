import EventLog
import Foundation
import LMDB
import MeshViews
import Projections
import ProtobufWire
import ViewQuery

extension Ledger {
    /// One row of a table of keyed rows, nil if it is archived.
    func row<Row: QueryRow>(_ key: [UInt8], in table: String, of view: String) throws(LedgerError) -> Row? {
        guard let row: Row = try anyRow(key, in: table, of: view) else { return nil }
        return try archivedTest(Row.self)?(row) ?? false ? nil : row
    }

    private func anyRow<Row: QueryRow>(_ key: [UInt8], in table: String, of view: String) throws(LedgerError) -> Row? {
        try reading(view) { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            guard let value = try transaction.get(store.table(table), key.rawSpan) else { return nil }
            return Row(key: key.rawSpan, value: value)
        }
    }

    /// The rows of a table that match a query's times and filters, in the order of their times, and those of one time in the order of their
    /// keys. A row of which only the time of its import is known counts as the oldest.
    func rows<Row: ViewRow>(
        in table: String, of view: String, _ query: RowQuery, where isWanted: (Row) -> Bool
    ) throws(LedgerError) -> [Row] {
        guard let seconds = query.seconds else { return [] }
        let isArchived = try archivedTest(Row.self, query)
        let all = try reading(view) { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            var cursor = try transaction.cursor(store.table(table))
            var rows: [Row] = []
            while try cursor.next() {
                guard let row = Row(key: cursor.key, value: cursor.value) else { continue }
                if seconds.contains(row.time), isWanted(row), !(isArchived?(row) ?? false) { rows.append(row) }
            }
            return rows
        }
        return Self.page(of: all, query)
    }

    /// The same for rows that a predicate finds by the key or an index.
    func rows<Row: ViewRow>(
        _ predicate: Predicate<Row>, _ query: RowQuery, where isWanted: (Row) -> Bool
    ) throws(LedgerError) -> [Row] {
        guard let seconds = query.seconds else { return [] }
        var wanted = FetchDescriptor(predicate: predicate)
        wanted.includesArchived = query.includesArchived
        return Self.page(of: try fetch(wanted).filter { seconds.contains($0.time) && isWanted($0) }, query)
    }

    private static func page<Row: ViewRow>(of rows: [Row], _ query: RowQuery) -> [Row] {
        let timed = rows.map { (known: $0.knownTime, time: $0.time, row: $0) }
        let sorted = timed.sorted {
            query.newestFirst ? ($0.known, $0.time) > ($1.known, $1.time) : ($0.known, $0.time) < ($1.known, $1.time)
        }
        return Array(sorted.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)).map(\.row))
    }
}
