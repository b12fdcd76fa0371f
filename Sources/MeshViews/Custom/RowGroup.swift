import FlatCollections
import LMDB
import Projections
import ProtobufWire

/// A row's position in the order of eviction of a capped group.
struct RowAge: Comparable, Sendable {
    var order: UInt64
    var key: [UInt8]
    /// Of the row in memory.
    var place = -1

    static func < (left: RowAge, right: RowAge) -> Bool {
        left.order != right.order ? left.order < right.order : left.key.lexicographicallyPrecedes(right.key)
    }

    /// Its key in the table of ages: the group's part of the row's key, the order (8 bytes, big-endian), and the rest of the row's key.
    func stored(prefixLength: Int) -> [UInt8] {
        Array(key.prefix(prefixLength) + bigEndian(order) + key.dropFirst(prefixLength))
    }

    init(order: UInt64, key: [UInt8], place: Int = -1) {
        self.order = order
        self.key = key
        self.place = place
    }

    init(stored: [UInt8], prefixLength: Int) {
        order = stored.rawSpan.bigEndianUInt64(at: prefixLength)
        key = Array(stored.prefix(prefixLength) + stored.dropFirst(prefixLength + 8))
    }
}

/// The rows of one capped group: their number, and the next to be evicted.
struct RowGroup: Sendable {
    let prefix: [UInt8]
    var count: Int
    /// As of the last commit.
    var storedCount: Int
    /// The first entry in memory; -1 without one.
    var first: Int32 = -1
    /// The rows in memory, and outdated entries of each; nil until a row is evicted.
    var ages: MinimumHeap<RowAge>?
    var stored: StoredAges

    init(prefix: [UInt8], count: Int) {
        self.prefix = prefix
        self.count = count
        storedCount = count
        stored = StoredAges(prefix: prefix)
    }

    /// LMDB has no empty keys: the only group of a view without groups has one byte.
    static func storedKey(_ prefix: [UInt8]) -> [UInt8] { prefix.isEmpty ? [0] : prefix }
}

/// The ages of a group in the file as of the last commit, lowest first.
struct StoredAges: Sendable {
    /// How many ages one read transaction fetches.
    private static let step = 64

    let prefix: [UInt8]
    private var isAtEnd = false
    private var fetched: [RowAge] = []
    private var next = 0
    private var last: [UInt8]?

    init(prefix: [UInt8]) { self.prefix = prefix }

    mutating func removeLowest() { next += 1 }

    mutating func lowest(_ store: ViewStore, _ table: RawTable) throws(StorageError) -> RowAge? {
        if next < fetched.count { return fetched[next] }
        guard !isAtEnd else { return nil }
        fetched.removeAll(keepingCapacity: true)
        next = 0
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(table)
        let start = last.map { $0 + [0] } ?? prefix
        var isThere = start.isEmpty ? try cursor.first() : try cursor.seek(atOrAfter: start.rawSpan)
        while isThere, fetched.count < Self.step, cursor.key.starts(with: prefix) {
            let key = cursor.key.asArray
            fetched.append(RowAge(stored: key, prefixLength: prefix.count))
            last = key
            isThere = try cursor.next()
        }
        isAtEnd = fetched.count < Self.step
        return fetched.first
    }
}
