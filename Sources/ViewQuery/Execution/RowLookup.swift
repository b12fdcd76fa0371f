internal import Foundation
internal import LMDB
internal import Projections
internal import ProtobufWire
internal import Synchronization

/// Reads the rows of collected keys, on all cores if there are many: the rows that an index names are on pages all over the table, and a single
/// core mostly waits for memory.
struct RowLookup<Row: QueryRow> {
    private let store: ViewStore
    private let table: RawTable
    private let fields: ChosenFields?

    /// In keys: reading fewer takes no longer than waking another core.
    private static var share: Int { 64 }
    private static var fewest: Int { 4 * share }

    /// - Parameter fields: nil for all.
    init(_ store: ViewStore, _ fields: ChosenFields?) throws(StorageError) {
        self.store = store
        self.fields = fields
        table = try store.table(Row.table)
    }

    /// The rows of all keys, in their order.
    func rows(of keys: EntryList, _ transaction: borrowing ReadTransaction) throws -> [Row] {
        let count = keys.count
        guard count >= Self.fewest else { return try rows(of: keys, 0..<count, transaction) }
        let (share, snapshot) = (Self.share, transaction.snapshot)
        let shares = (count + share - 1) / share
        @Sendable func places(_ number: Int) -> Range<Int> { number * share..<min((number + 1) * share, count) }
        let found = Mutex([[Row]?](repeating: nil, count: shares))
        DispatchQueue.concurrentPerform(iterations: shares) { number in
            do {
                let transaction = try store.environment.beginRead()
                guard transaction.snapshot == snapshot else { return }
                let some = try self.rows(of: keys, places(number), transaction)
                found.withLock { $0[number] = some }
            } catch {
                // The caller encounters the failure again, and reports it.
            }
        }
        var rows: [Row] = []
        rows.reserveCapacity(count)
        for (number, some) in found.withLock({ $0 }).enumerated() {
            rows += try some ?? self.rows(of: keys, places(number), transaction)
        }
        return rows
    }

    private func rows(
        of keys: EntryList, _ places: Range<Int>, _ transaction: borrowing ReadTransaction
    ) throws -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(places.count)
        var cursor = try transaction.cursor(table)
        let (bytes, length) = (keys.bytes.rawSpan, keys.length)
        var decoder = fields.map { RowDecoder($0) }
        for place in places {
            let key = bytes.extracting(place * length..<(place + 1) * length)
            guard try cursor.seek(exactly: key) else { throw QueryPlan<Row>.malformed(store) }
            // Whole rows are decoded by their own type, which need not be looked up.
            let isRow = decoder?.append(key, cursor.value, to: &rows) ?? Row.append(key: key, value: cursor.value, to: &rows)
            guard isRow else { throw QueryPlan<Row>.malformed(store) }
        }
        return rows
    }
}
