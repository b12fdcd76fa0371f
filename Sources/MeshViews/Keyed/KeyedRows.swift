import LMDB
import Projections
import ProtobufWire

/// All rows of a table in memory, at most the cap of them, with what changed since the last commit.
///
/// A row that exceeds the cap drives out the one with the earliest time at once, in the order of the log, so the rows never depend on when
/// they were flushed.
struct KeyedRows<Row: KeyedRow>: Sendable {
    private struct Age: Comparable {
        var time: UInt32
        var key: UInt64

        static func < (left: Age, right: Age) -> Bool {
            left.time != right.time ? left.time < right.time : left.key < right.key
        }
    }

    private let cap: Int
    private var rows: [Row] = []
    private var isDirty: [Bool] = []
    private var free: [Int] = []
    private var places = FlatMap()
    private var dirty: [Int] = []
    private var removed: Set<UInt64> = []
    /// Each row once, with a time that may have risen since; none before the first row that exceeds the cap.
    private var ages = MinimumHeap<Age>()
    private var knowsAges = false

    init(cap: Int) { self.cap = max(cap, 1) }

    var count: Int { places.count }
    var pendingCount: Int { dirty.count + removed.count }

    /// Where the row of a key is, until the next one is inserted.
    @inline(__always)
    func place(of key: UInt64) -> Int? { places[key].map { Int($0) } }

    /// Reads where the key and its row would be: who does so for many keys at once waits for main memory twice, and not twice for each of them.
    ///
    /// - Returns: a number that means nothing, to be kept so that the reading is not for nothing.
    @inline(__always)
    func glance(at keys: some Collection<UInt64>) -> UInt64 {
        var sum: UInt64 = 0
        for key in keys { sum &+= places.glance(at: key) }
        for key in keys { if let place = places[key] { sum &+= UInt64(rows[Int(place)].time) } }
        return sum
    }

    subscript(place: Int) -> Row { rows[place] }

    /// In no order that means anything.
    var all: [Row] { rows.indices.filter { places[rows[$0].key] == Int32($0) }.map { rows[$0] } }

    @inline(__always)
    mutating func update(_ place: Int, _ change: (inout Row) -> Void) {
        change(&rows[place])
        markDirty(place)
    }

    /// Adds the row of a key that has none. With more rows than the cap allows the one with the earliest time goes, which may be this one.
    mutating func insert(_ row: Row) {
        markDirty(add(row))
        if places.count > cap { evict() }
    }

    @inline(__always)
    private mutating func markDirty(_ place: Int) {
        guard !isDirty[place] else { return }
        isDirty[place] = true
        dirty.append(place)
    }

    private mutating func add(_ row: Row) -> Int {
        let place: Int
        if let reused = free.popLast() {
            place = reused
            rows[place] = row
        } else {
            place = rows.count
            rows.append(row)
            isDirty.append(false)
        }
        places.set(row.key, Int32(place))
        if knowsAges { ages.insert(Age(time: row.time, key: row.key)) }
        return place
    }

    private mutating func evict() {
        if !knowsAges {
            for row in all { ages.insert(Age(time: row.time, key: row.key)) }
            knowsAges = true
        }
        while let oldest = ages.removeSmallest() {
            guard let place = place(of: oldest.key) else { continue }
            let time = rows[place].time
            guard time == oldest.time else {
                ages.insert(Age(time: time, key: oldest.key))
                continue
            }
            places.remove(oldest.key)
            removed.insert(oldest.key)
            free.append(place)
            return
        }
    }

    // MARK: Storage

    mutating func load(_ transaction: borrowing ReadTransaction, _ table: RawTable) throws(StorageError) {
        let count = try transaction.count(table)
        places = FlatMap(minimumCapacity: count)
        rows.reserveCapacity(count)
        isDirty.reserveCapacity(count)
        var cursor = try transaction.cursor(table)
        while try cursor.next() {
            if let row = Row.decode(key: cursor.key, value: cursor.value) { _ = add(row) }
        }
        // A baseline that a policy with a larger cap made may have more.
        while places.count > cap { evict() }
    }

    func write(to transaction: inout WriteTransaction, _ table: RawTable) throws(StorageError) {
        var key = [UInt8](repeating: 0, count: Row.keyLength)
        for number in removed.sorted() where places[number] == nil {
            store(number, length: Row.keyLength, into: &key, at: 0)
            try transaction.delete(table, key: key.rawSpan)
        }
        var writer = WireWriter(capacity: 2_048)
        let isEmptyTable = try transaction.count(table) == 0
        let current = dirty.filter { places[rows[$0].key] == Int32($0) }
        for place in current.sorted(by: { rows[$0].key < rows[$1].key }) {
            writer.removeAll(keepingCapacity: true)
            rows[place].encode(to: &writer)
            store(rows[place].key, length: Row.keyLength, into: &key, at: 0)
            try transaction.put(table, key: key.rawSpan, value: writer.bytes.rawSpan, isEmptyTable ? .append : .replace)
        }
    }

    mutating func committed() {
        for place in dirty { isDirty[place] = false }
        dirty.removeAll(keepingCapacity: true)
        removed.removeAll(keepingCapacity: true)
    }
}
