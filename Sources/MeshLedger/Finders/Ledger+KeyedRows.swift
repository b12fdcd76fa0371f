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

    /// Sorts what orders the rows, not the rows, and of these no more than may be on the page: a list often wants 20 of 100,000.
    private static func page<Row: ViewRow>(of rows: [Row], _ query: RowQuery) -> [Row] {
        let (skips, limit) = (max(0, query.offset), max(0, query.limit))
        let (most, isEndless) = skips.addingReportingOverflow(limit)
        var places: [PagedPlace] = []
        var last: PagedPlace?
        for (index, row) in rows.enumerated() {
            let place = PagedPlace(known: row.knownTime, time: row.time, index: index, newestFirst: query.newestFirst)
            if let last, last < place { continue }
            places.append(place)
            guard !isEndless, places.count >= 1_024, places.count / 2 > most else { continue }
            places.sort()
            places.removeLast(places.count - most)
            last = places.last
        }
        places.sort()
        return places.dropFirst(skips).prefix(limit).map { rows[$0.index] }
    }
}

/// Where a row is in the order of its list; equal ones are in the order of their keys.
private struct PagedPlace: Comparable {
    let known: UInt32
    let time: UInt32
    let index: Int
    let newestFirst: Bool

    static func < (one: PagedPlace, other: PagedPlace) -> Bool {
        if one.known != other.known { return (one.known > other.known) == one.newestFirst }
        if one.time != other.time { return (one.time > other.time) == one.newestFirst }
        return one.index < other.index
    }
}
