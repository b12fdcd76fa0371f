import LMDB
import MeshViews
import Projections
import ProtobufWire
import ViewQuery

extension Ledger {
    /// The rows of all series with this key prefix, in the order of their times; holds at most twice as many rows as requested.
    func seriesRows<Row: ViewRow>(
        prefix: [UInt8], _ query: RowQuery, where isWanted: (Row) -> Bool
    ) throws(LedgerError) -> [Row] {
        guard let seconds = query.seconds, query.limit > 0 else { return [] }
        let isArchived = try archivedTest(Row.self, query)
        let (reach, isCut) = query.limit.addingReportingOverflow(max(0, query.offset))
        let kept = isCut ? Int.max : reach
        func isBefore(_ left: Row, _ right: Row) -> Bool {
            let isEarlier = left.time != right.time ? left.time < right.time : left.sequence < right.sequence
            return query.newestFirst ? !isEarlier && left.sequence != right.sequence : isEarlier
        }
        let all = try reading(Row.view) { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            var cursor = try transaction.cursor(store.table(Row.table))
            var rows: [Row] = []
            var isThere = prefix.isEmpty ? try cursor.first() : try cursor.seek(atOrAfter: prefix.rawSpan)
            while isThere, cursor.key.starts(with: prefix) {
                if let row = Row(key: cursor.key, value: cursor.value), seconds.contains(row.time), isWanted(row),
                    !(isArchived?(row) ?? false)
                {
                    rows.append(row)
                    if rows.count >= 100_000, rows.count / 2 >= kept {
                        rows.sort(by: isBefore)
                        rows.removeLast(rows.count - kept)
                    }
                }
                isThere = try cursor.next()
            }
            return rows
        }
        return Array(all.sorted(by: isBefore).dropFirst(max(0, query.offset)).prefix(query.limit))
    }
}
