import FlatCollections
import LMDB
import Projections
import ProtobufWire

/// A row and its time. It is outside of the generic type so that the compiler specialises the heap.
private struct KeyedRowAge: Comparable {
    var time: UInt32
    /// The index of its row.
    var place: Int32
    var key: UInt64

    static func < (left: KeyedRowAge, right: KeyedRowAge) -> Bool {
        left.time != right.time ? left.time < right.time : left.key < right.key
    }
}

/// All rows of a table in memory, up to its cap, with what changed since the last commit.
///
/// A row beyond the cap evicts the one with the lowest age at once, in the order of the log, so the rows never depend on when
/// they were flushed.
struct KeyedRows<Row: KeyedRow>: Sendable {
    private let cap: Int
    private var rows: [Row] = []
    private var isDirty: [Bool] = []
    private var free: [Int] = []
    private var places = FlatMap()
    private var dirty: [Int] = []
    /// Evicted keys; some were evicted more than once, or have been added again.
    private var removed: [UInt64] = []
    /// The approximate size in the file of the rows in `dirty`.
    private var dirtyBytes = 0
    /// The rows with the lowest ages, each with one that may have risen since, and again for each age that was lower than the previous one.
    private var oldest = MinimumHeap<KeyedRowAge>()
    /// Each row with no higher age is in `oldest`; nil before the first row that exceeds the cap. Most rows are not, so the heap stays in the processor's caches.
    private var oldestThrough: UInt32?

    init(cap: Int) { self.cap = max(cap, 1) }

    var count: Int { places.count }
    /// The approximate size of the next write in bytes.
    var pendingBytes: Int { dirtyBytes + removed.count * Row.keyLength }

    /// The index of a key's row, valid until the next one is inserted.
    @inline(__always)
    func place(of key: UInt64) -> Int? { places[key].map { Int($0) } }

    /// Touches the slots of the keys and their rows: for many keys at once, this waits for main memory twice, instead of twice per key.
    ///
    /// - Returns: a number without meaning, to be stored so that the compiler keeps the reads.
    @inline(__always)
    func prefetch(at keys: some Collection<UInt64>) -> UInt64 {
        var sum: UInt64 = 0
        for key in keys { sum &+= places.prefetch(at: key) }
        for key in keys { if let place = places[key] { sum &+= rows[Int(place)].prefetch &+ (isDirty[Int(place)] ? 1 : 0) } }
        return sum
    }

    subscript(place: Int) -> Row { rows[place] }

    /// Reads without copying the row, which would retain its texts.
    @inline(__always)
    func read<Result>(_ place: Int, _ body: (borrowing Row) -> Result) -> Result { body(rows[place]) }

    /// In no particular order.
    var all: [Row] { rows.indices.filter { isUsed($0) }.map { rows[$0] } }

    @inline(__always)
    mutating func update(_ place: Int, _ change: (inout Row) -> Void) {
        let before = rows[place].age
        change(&rows[place])
        markDirty(place)
        if oldestThrough != nil, rows[place].age < before { noteAge(of: place) }
    }

    private mutating func noteAge(of place: Int) {
        guard let oldestThrough, rows[place].age <= oldestThrough else { return }
        oldest.insert(age(of: place))
        if oldest.count - cap > cap { forgetOldest() }
    }

    private mutating func forgetOldest() { (oldest, oldestThrough) = (MinimumHeap(), nil) }

    /// Adds the row of a new key. Beyond the cap, the row with the lowest age is evicted, perhaps this one.
    mutating func insert(_ row: Row) {
        markDirty(add(row))
        if places.count > cap { evict() }
    }

    mutating func remove(_ place: Int) {
        places.remove(rows[place].key)
        removed.append(rows[place].key)
        free.append(place)
    }

    @inline(__always)
    private mutating func markDirty(_ place: Int) {
        guard !isDirty[place] else { return }
        isDirty[place] = true
        dirty.append(place)
        dirtyBytes &+= rows[place].storedSize
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
        noteAge(of: place)
        return place
    }

    private mutating func evict() {
        while places.count > 0 {
            guard let first = oldest.smallest, let oldestThrough else {
                findOldest()
                continue
            }
            let place = Int(first.place)
            guard places[first.key] == first.place, rows[place].age <= oldestThrough else {
                oldest.removeSmallest()  // it was evicted by an earlier entry, or is no longer among the oldest
                continue
            }
            guard rows[place].age == first.time else {
                oldest.replaceSmallest(with: age(of: place))
                continue
            }
            oldest.removeSmallest()
            return remove(place)
        }
    }

    private func age(of place: Int) -> KeyedRowAge {
        KeyedRowAge(time: rows[place].age, place: Int32(place), key: rows[place].key)
    }

    /// About a sixteenth of the rows.
    private mutating func findOldest() {
        forgetOldest()
        let sample = stride(from: 0, to: rows.count, by: max(rows.count / 1_024, 1)).filter { isUsed($0) }.map { rows[$0].age }
            .sorted()
        let through = sample.isEmpty ? UInt32.max : sample[sample.count / 16]
        for place in rows.indices where rows[place].age <= through && isUsed(place) { oldest.insert(age(of: place)) }
        oldestThrough = through
    }

    /// Whether the row there has not been evicted.
    @inline(__always)
    private func isUsed(_ place: Int) -> Bool { places[rows[place].key] == Int32(place) }

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
        // A baseline from a policy with a larger cap may have more.
        while places.count > cap { evict() }
    }

    func write(to transaction: inout WriteTransaction, _ table: RawTable) throws(StorageError) {
        var key = [UInt8](repeating: 0, count: Row.keyLength)
        var last: UInt64?
        for number in removed.sorted() where places[number] == nil && number != last {
            last = number
            store(number, length: Row.keyLength, into: &key, at: 0)
            try transaction.delete(table, key: key.rawSpan)
        }
        var writer = WireWriter(capacity: 2_048)
        let mode: PutMode = try transaction.count(table) == 0 ? .append : .replace
        var cursor = try transaction.writeCursor(table)
        for (number, place) in current() {
            writer.removeAll(keepingCapacity: true)
            rows[place].encode(to: &writer)
            store(number, length: Row.keyLength, into: &key, at: 0)
            try cursor.put(key: key.rawSpan, value: writer.bytes.rawSpan, mode)
        }
    }

    /// The changed rows by key, except those that were evicted since.
    private func current() -> [(key: UInt64, place: Int)] {
        var found: [(key: UInt64, place: Int)] = []
        found.reserveCapacity(dirty.count)
        for place in dirty where isUsed(place) { found.append((rows[place].key, place)) }
        found.sort { $0.key < $1.key }
        return found
    }

    mutating func committed() {
        for place in dirty { isDirty[place] = false }
        dirty.removeAll(keepingCapacity: true)
        dirtyBytes = 0
        removed.removeAll(keepingCapacity: true)
    }
}
