import FlatCollections
import LMDB
import Projections
import ProtobufWire

/// A committed message by its keys alone: the texts and lists of rows that a cap removes need not be read.
struct StoredMessage: Sendable {
    let sortKey: MessageRow.SortKey
    let packet: UInt64
    let firstSequence: UInt64

    init(_ row: MessageRow) {
        (sortKey, packet, firstSequence) = (row.sortKey, row.packet, row.firstSequence)
    }

    /// A damaged value is as one of packet 0: the row is still removed, and a rebuild mends the rest.
    init?(key: RawSpan, value: RawSpan) {
        guard let sortKey = MessageRow.sortKey(of: key) else { return nil }
        self.sortKey = sortKey
        var (from, id, first) = (UInt32(0), UInt32(0), UInt64(0))
        var reader = WireReader(value)
        do throws(WireError) {
            while let field = try reader.next() {
                switch field.tag {
                case WireField.tag(MessageRow.Stored.firstSequence, .varint): first = field.scalar
                case WireField.tag(MessageRow.Stored.from, .fixed32): from = field.asUInt32
                case WireField.tag(MessageRow.Stored.id, .fixed32): id = field.asUInt32
                default: break
                }
            }
        } catch {}  // what was read until there
        (packet, firstSequence) = (UInt64(from) << 32 | UInt64(id), first)
    }
}

/// The committed rows of a thread, the oldest first, read a few at a time.
struct OldestMessages: Sendable {
    private let prefix: [UInt8]
    /// Those before this key have been read.
    private var floor: [UInt8]
    private var rows: [StoredMessage] = []
    private var next = 0
    /// More with each reading: a single message over the cap removes one row, a long replay thousands.
    private var most = 8
    private static let mostOfAll = 1_024

    init(of thread: MessageThread) {
        prefix = thread.key
        floor = prefix
    }

    /// The oldest row that is not removed.
    mutating func first(except removed: borrowing RemovedMessages, in store: ViewStore) throws(StorageError) -> StoredMessage? {
        while true {
            while next < rows.count {
                if !removed.contains(rows[next].sortKey) { return rows[next] }
                next += 1
            }
            guard try read(store) else { return nil }
        }
    }

    private mutating func read(_ store: ViewStore) throws(StorageError) -> Bool {
        rows.removeAll(keepingCapacity: true)
        next = 0
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("messages"))
        var isThere = try cursor.seek(atOrAfter: floor.rawSpan)
        while isThere, rows.count < most, cursor.key.starts(with: prefix) {
            if let row = StoredMessage(key: cursor.key, value: cursor.value) { rows.append(row) }
            floor = cursor.key.asArray + [0]
            isThere = try cursor.next()
        }
        most = min(most * 4, Self.mostOfAll)
        return !rows.isEmpty
    }
}

/// Committed rows that the next commit removes.
struct RemovedMessages: Sendable {
    private var rows: [StoredMessage] = []
    /// By their events, of which each makes one row at most.
    private var events: FlatMap

    init(minimumCapacity: Int = 0) { events = FlatMap(minimumCapacity: minimumCapacity) }

    var count: Int { rows.count }

    var byteCount: Int { rows.count * 72 }

    mutating func insert(_ row: StoredMessage) {
        guard !contains(row.sortKey) else { return }
        events.set(row.sortKey.2, 0)
        rows.append(row)
    }

    func contains(_ sortKey: MessageRow.SortKey) -> Bool { events[sortKey.2] != nil }

    func contains(_ key: [UInt8]) -> Bool { MessageRow.sortKey(of: key.rawSpan).map(contains) ?? false }

    func delete(from table: RawTable, _ packets: RawTable, of transaction: inout WriteTransaction) throws(StorageError) {
        var key = [UInt8](repeating: 0, count: MessageRow.keySize)
        for row in rows.sorted(by: { $0.sortKey < $1.sortKey }) {
            MessageRow.store(row.sortKey, into: &key)
            try transaction.delete(table, key: key.rawSpan)
        }
        key = [UInt8](repeating: 0, count: MessageRow.packetKeySize)
        for row in rows.sorted(by: { ($0.packet, $0.firstSequence) < ($1.packet, $1.firstSequence) }) {
            MessageRow.store(row.packet, row.firstSequence, into: &key)
            try transaction.delete(packets, key: key.rawSpan)
        }
    }
}
