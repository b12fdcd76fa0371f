import EventLog
import LMDB
import Projections
import ProtobufWire
import ViewQuery

/// A row that tests store themselves.
protocol KeptRow: QueryRow {
    var key: [UInt8] { get }
    var value: [UInt8] { get }
}

/// Stores and removes rows as its batches say.
struct KeptRows<Row: KeptRow>: Projection {
    struct Batch: FoldBatch {
        var events: ClosedRange<EventSequence>
        var lastChecksum: UInt64 { events.upperBound.rawValue &* 31 }
        var stageState = StageState()
        var changes: [(row: Row, isGone: Bool)]

        init(first: UInt64, _ changes: [(row: Row, isGone: Bool)]) {
            events = EventSequence(first)...EventSequence(first + UInt64(changes.count) - 1)
            self.changes = changes
        }
    }

    let name = Row.view
    let version: UInt32 = 1
    let policy = ""
    let rowTables = [Row.table]
    let stateTables: [String] = []
    var indexes: [IndexedTable] { Row.indexedTables }
    private var pending: [[UInt8]: Row?] = [:]

    var pendingBytes: Int { pending.count * 100 }

    mutating func load(_ store: ViewStore) {}

    mutating func fold(_ batch: Batch, after checkpoint: EventSequence, in context: inout FoldContext) {
        for (row, isGone) in batch.changes { pending[row.key] = .some(isGone ? nil : row) }
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        let table = try store.table(Row.table)
        for (key, row) in pending {
            if let row {
                try transaction.put(table, key: key.rawSpan, value: row.value.rawSpan)
            } else {
                try transaction.delete(table, key: key.rawSpan)
            }
        }
    }

    mutating func committed() { pending.removeAll() }
}
