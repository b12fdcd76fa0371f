public import FlatCollections
public import LMDB
import Projections
import ProtobufWire
public import ViewQuery

/// The recently used rows of a custom view, including those that changed since the last commit.
///
/// A cap applies to each change, so the rows do not depend on when they were flushed. A row keeps its index until the next commit.
@usableFromInline
struct RowTable<Row: StoredRow>: Sendable {
    @usableFromInline struct Entry: Sendable {
        /// As the last event left it; nil if the table has no row of this key.
        @usableFromInline var row: Row?
        @usableFromInline var isDirty = false
        /// Its order in the file; nil if it is not in the file.
        var stored: UInt64?
        var group: Int32 = 0
        /// The next entry of the same group; -1 at the end.
        var nextOfGroup: Int32 = -1
        /// The next entry whose key has the same hash; -1 at the end.
        @usableFromInline var nextAlike: Int32 = -1
    }

    /// The number of entries above which the next commit also drops unchanged rows.
    private static var maximum: Int { 65_536 }

    let cap: RowCap<Row>
    let store: ViewStore
    @usableFromInline var entries: [Entry] = []
    /// The keys of the entries, one after the other.
    @usableFromInline var keys: [UInt8] = []
    @usableFromInline let parts: [RowKeyPart<Row>]
    @usableFromInline let keyLength: Int
    /// The first entry of each hash.
    @usableFromInline var places = FlatMap()
    /// The key to look up.
    @usableFromInline var key: [UInt8] = []
    @usableFromInline var dirty: [Int32] = []
    @usableFromInline let isCapped: Bool
    /// Whether rows are evicted, which requires the order of each changed row.
    @usableFromInline var isFull = false
    var groups: [RowGroup] = []
    private var groupPlaces: [[UInt8]: Int32] = [:]
    /// Whether the file has no rows, so that none are looked up.
    private var isFileEmpty: Bool

    init(_ cap: RowCap<Row>, _ store: ViewStore) throws(StorageError) {
        self.cap = cap
        self.store = store
        isCapped = cap.most != nil
        parts = Row.keyParts
        keyLength = Row.columns.reduce(0) { $0 + $1.keyLength }
        key.reserveCapacity(keyLength)
        isFileEmpty = try store.environment.beginRead().count(store.table(Row.table)) == 0
    }

    // MARK: Places

    /// The index of the row with the same key; the entry may be empty.
    @inlinable
    mutating func place(of row: borrowing Row) throws(StorageError) -> Int {
        takeKey(of: row)
        let hash = hash(key)
        if let place = find(key, hash) { return place }
        return try add(hash)
    }

    @inlinable
    mutating func isKey(of row: borrowing Row, at place: Int) -> Bool {
        takeKey(of: row)
        return isKey(key, at: place)
    }

    @inlinable @inline(__always)
    mutating func takeKey(of row: borrowing Row) {
        key.removeAll(keepingCapacity: true)
        for index in parts.indices { parts[index].append(row, to: &key) }
    }

    /// Up to eight bytes it is the key itself.
    @inlinable
    func hash(_ key: [UInt8]) -> UInt64 {
        guard keyLength > 8 else { return key.reduce(0) { $0 << 8 | UInt64($1) } }
        var hasher = Hasher()
        unsafe key.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    @inlinable
    func find(_ key: [UInt8], _ hash: UInt64) -> Int? {
        var place = places[hash] ?? -1
        while place >= 0 {
            if isKey(key, at: Int(place)) { return Int(place) }
            place = entries[Int(place)].nextAlike
        }
        return nil
    }

    @inlinable
    func isKey(_ key: [UInt8], at place: Int) -> Bool {
        let start = place &* keyLength
        for index in key.indices where keys[start &+ index] != key[index] { return false }
        return true
    }

    /// Adds an entry for the key that was looked up, with its row in the file.
    @usableFromInline
    mutating func add(_ hash: UInt64) throws(StorageError) -> Int {
        let row = try committed(key)
        return try add(key, hash, row, stored: row.map(cap.order))
    }

    private mutating func add(_ key: [UInt8], _ hash: UInt64, _ row: Row?, stored: UInt64?) throws(StorageError) -> Int {
        let place = entries.count
        var entry = Entry(row: row, stored: stored)
        if isCapped {
            let group = try group(of: key)
            entry.group = Int32(group)
            entry.nextOfGroup = groups[group].first
            groups[group].first = Int32(place)
            if let row, groups[group].ages != nil {
                groups[group].ages?.insert(RowAge(order: cap.order(row), key: key, place: place))
            }
        }
        entry.nextAlike = places[hash] ?? -1
        entries.append(entry)
        keys += key
        places.set(hash, Int32(place))
        return place
    }

    private func committed(_ key: [UInt8]) throws(StorageError) -> Row? {
        if isFileEmpty { return nil }
        let transaction = try store.environment.beginRead()
        guard let value = try transaction.get(store.table(Row.table), key.rawSpan) else { return nil }
        guard let row = Row(key: key.rawSpan, value: value) else {
            throw StorageError(.malformedValue, call: "decode row", path: store.path)
        }
        return row
    }

    // MARK: Changes

    /// Stores a row at its index, or removes it.
    @inlinable
    mutating func set(_ place: Int, _ row: Row?) throws(StorageError) {
        let was = entries[place].row != nil
        guard was || row != nil else { return }
        if isCapped, isFull || was != (row != nil) { return try setCounted(place, row) }
        entries[place].row = row
        markDirty(place)
    }

    @inlinable
    mutating func markDirty(_ place: Int) {
        guard !entries[place].isDirty else { return }
        entries[place].isDirty = true
        dirty.append(Int32(place))
    }

    /// Does what `set` does if the number of rows changes, or rows are evicted.
    @usableFromInline
    mutating func setCounted(_ place: Int, _ row: Row?) throws(StorageError) {
        let (before, after) = (entries[place].row.map(cap.order), row.map(cap.order))
        entries[place].row = row
        markDirty(place)
        let group = Int(entries[place].group)
        groups[group].count += (after == nil ? 0 : 1) - (before == nil ? 0 : 1)
        if let after, groups[group].ages != nil, before.map({ after < $0 }) ?? true {
            let age = RowAge(order: after, key: key(at: place), place: place)
            groups[group].ages?.insert(age)
        }
        while let most = cap.most, groups[group].count > most, try evict(group) {}
    }

    /// Removes the lowest row of a group.
    private mutating func evict(_ group: Int) throws(StorageError) -> Bool {
        if groups[group].ages == nil { findAges(of: group) }
        let resident = lowestResident(of: group)
        let stored = try lowestStored(of: group)
        if let stored, resident.map({ stored < $0 }) ?? true {
            let place = try add(stored.key, hash(stored.key), nil, stored: stored.order)
            markDirty(place)
        } else if let resident {
            entries[resident.place].row = nil
            markDirty(resident.place)
        } else {
            return false
        }
        groups[group].count -= 1
        return true
    }

    private mutating func findAges(of group: Int) {
        isFull = true
        var ages = MinimumHeap<RowAge>()
        var place = Int(groups[group].first)
        while place >= 0 {
            if let row = entries[place].row { ages.insert(RowAge(order: cap.order(row), key: key(at: place), place: place)) }
            place = Int(entries[place].nextOfGroup)
        }
        groups[group].ages = ages
    }

    /// The lowest of the rows in memory. The heap has each of them at least once, with an order that may have risen since.
    private mutating func lowestResident(of group: Int) -> RowAge? {
        while let age = groups[group].ages?.smallest {
            guard let order = entries[age.place].row.map(cap.order) else {
                groups[group].ages?.removeSmallest()
                continue
            }
            guard order != age.order else { return age }
            groups[group].ages?.replaceSmallest(with: RowAge(order: order, key: age.key, place: age.place))
        }
        return nil
    }

    /// The lowest of the rows in the file that are not in memory.
    private mutating func lowestStored(of group: Int) throws(StorageError) -> RowAge? {
        let ages = try store.table(Self.ages)
        while let age = try groups[group].stored.lowest(store, ages) {
            if find(age.key, hash(age.key)) == nil { return age }
            groups[group].stored.removeLowest()
        }
        return nil
    }

    func key(at place: Int) -> [UInt8] { Array(keys[place * keyLength..<(place + 1) * keyLength]) }

    private mutating func group(of key: [UInt8]) throws(StorageError) -> Int {
        let prefix = Array(key.prefix(cap.prefixLength))
        if let known = groupPlaces[prefix] { return Int(known) }
        let transaction = try store.environment.beginRead()
        let count = try transaction.get(store.table(Self.counts), RowGroup.storedKey(prefix).rawSpan)?.bigEndianUInt64(at: 0)
        groupPlaces[prefix] = Int32(groups.count)
        groups.append(RowGroup(prefix: prefix, count: Int(clamping: count ?? 0)))
        return groups.count - 1
    }

    // MARK: Commits

    /// In bytes, roughly.
    var pendingBytes: Int { 512 * (entries.count > Self.maximum ? entries.count : dirty.count) }

    /// Keeps the rows in memory, unless there are too many, or evictions would have to skip them in the file.
    mutating func committed() {
        isFileEmpty = false
        guard !isFull, entries.count <= Self.maximum else {
            entries.removeAll(keepingCapacity: true)
            keys.removeAll(keepingCapacity: true)
            places = FlatMap()
            groups.removeAll(keepingCapacity: true)
            groupPlaces.removeAll(keepingCapacity: true)
            dirty.removeAll(keepingCapacity: true)
            return isFull = false
        }
        for place in dirty {
            entries[Int(place)].isDirty = false
            entries[Int(place)].stored = entries[Int(place)].row.map(cap.order)
        }
        dirty.removeAll(keepingCapacity: true)
        for group in groups.indices { groups[group].storedCount = groups[group].count }
    }
}
