import LMDB
import Projections
import ProtobufWire

/// A row's place in the order of eviction of a capped group.
struct RowAge: Comparable, Sendable {
    var order: UInt64
    var key: [UInt8]

    static func < (left: RowAge, right: RowAge) -> Bool {
        left.order != right.order ? left.order < right.order : left.key.lexicographicallyPrecedes(right.key)
    }

    /// Its key in the table of ages: the group's part of the row's key, the order (8 bytes, big-endian), and the rest of the row's key.
    func stored(prefixLength: Int) -> [UInt8] {
        Array(key.prefix(prefixLength) + bigEndian(order) + key.dropFirst(prefixLength))
    }

    init(order: UInt64, key: [UInt8]) {
        self.order = order
        self.key = key
    }

    init(stored: [UInt8], prefixLength: Int) {
        order = stored.rawSpan.bigEndianUInt64(at: prefixLength)
        key = Array(stored.prefix(prefixLength) + stored.dropFirst(prefixLength + 8))
    }
}

/// The rows of one capped group: their number, and which is evicted next.
///
/// The file has the ages as of the last commit; rows that were touched since are in a heap, which may also have outdated entries of each.
struct RowGroup: Sendable {
    /// In ages: how many one read transaction fetches.
    private static let step = 64

    let prefix: [UInt8]
    private(set) var isFull = false
    var count: Int
    private(set) var touched = MinimumHeap<RowAge>()
    private var stored: [RowAge] = []
    private var next = 0
    private var last: [UInt8]?

    init(prefix: [UInt8], count: Int) {
        self.prefix = prefix
        self.count = count
    }

    mutating func touch(_ age: RowAge) { touched.insert(age) }

    mutating func removeTouched() { touched.removeSmallest() }

    mutating func removeStored() { next += 1 }

    /// The lowest of the rows in the file that were not passed yet.
    mutating func lowestStored(_ store: ViewStore, _ table: RawTable) throws(StorageError) -> RowAge? {
        if next < stored.count { return stored[next] }
        guard !isFull else { return nil }
        stored.removeAll(keepingCapacity: true)
        next = 0
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(table)
        let start = last.map { $0 + [0] } ?? prefix
        var isThere = start.isEmpty ? try cursor.first() : try cursor.seek(atOrAfter: start.rawSpan)
        while isThere, stored.count < Self.step, cursor.key.starts(with: prefix) {
            let key = cursor.key.asArray
            stored.append(RowAge(stored: key, prefixLength: prefix.count))
            last = key
            isThere = try cursor.next()
        }
        isFull = stored.count < Self.step
        return stored.first
    }
}
