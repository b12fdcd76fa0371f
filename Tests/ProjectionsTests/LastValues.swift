import EventLog
import LMDB
import Projections
import ProtobufWire

/// The smallest projection: the last value of each key.
struct LastValues: Projection {
    struct Batch: FoldBatch {
        var events: ClosedRange<EventSequence>
        var lastChecksum: UInt64 { events.upperBound.rawValue &* 31 }
        var stageState = StageState()
        /// One value an event.
        var values: [(key: UInt32, value: UInt64)]
        /// Nil for the projection's.
        var urgency: Urgency?

        init(first: UInt64, _ values: [(key: UInt32, value: UInt64)], _ urgency: Urgency? = nil) {
            self.urgency = urgency
            events = EventSequence(first)...EventSequence(first + UInt64(values.count) - 1)
            self.values = values
        }
    }

    var name = "last"
    var version: UInt32 = 1
    let policy = ""
    let rowTables = ["last"]
    let stateTables: [String] = []
    var urgency = Urgency.debounced
    private var pending: [UInt32: UInt64] = [:]

    init(urgency: Urgency = .debounced) { self.urgency = urgency }

    mutating func load(_ store: ViewStore) {}

    mutating func fold(_ batch: Batch, after checkpoint: EventSequence, in context: inout FoldContext) {
        for (index, entry) in batch.values.enumerated() {
            let sequence = batch.events.lowerBound.rawValue + UInt64(index)
            guard sequence > checkpoint.rawValue else { continue }
            if entry.value == .max {
                context.quarantine(EventSequence(sequence), reason: "too large")
            } else {
                pending[entry.key] = entry.value
                context.want(batch.urgency ?? urgency)
            }
        }
    }

    var pendingBytes: Int { pending.count * 16 }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        let table = try store.table("last")
        for (key, value) in pending {
            try transaction.put(table, key: bigEndian(key).rawSpan, value: bigEndian(value).rawSpan)
        }
    }

    mutating func committed() { pending.removeAll() }

    static func rows(_ store: ViewStore) throws -> [UInt32: UInt64] {
        var rows: [UInt32: UInt64] = [:]
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("last"))
        while try cursor.next() { rows[cursor.key.bigEndianUInt32(at: 0)] = cursor.value.bigEndianUInt64(at: 0) }
        return rows
    }
}

func openStore(_ path: String, tables: [String] = ["last"], sizeLimit: Int? = nil) throws -> ViewStore {
    try ViewStore.open(
        at: path, recipe: Recipe(view: "last", version: 1, policy: "", keyring: ""), tables: tables, access: .readWrite,
        sizeLimit: sizeLimit)
}
