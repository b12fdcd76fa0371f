import FlatCollections
import LMDB
import Projections
import ProtobufWire

/// Message rows that changed since the last commit, merged over the committed ones.
///
/// Caps act on each event: the very next acknowledgement no longer finds an evicted message, regardless of flushes.
struct PendingMessages: Sendable {
    /// A row as it will be stored, with the most used values: whole rows with their texts and lists cost too much memory.
    private struct Entry {
        var value: ValueChunks.Place
        let sortKey: MessageRow.SortKey
        let packet: UInt64
        let firstSequence: UInt64
        var group: UInt64 { PendingMessages.group(packet, firstSequence) }
        /// The previous entry of the same packet identifier, -1 without one.
        let older: Int32
        let isStored: Bool
        var isRemoved = false
    }

    private struct Age: Comparable {
        var time: UInt32
        var sequence: UInt64
        var entry: Int

        static func < (left: Age, right: Age) -> Bool {
            left.time != right.time ? left.time < right.time : left.sequence < right.sequence
        }
    }

    private struct Thread {
        var id: MessageThread
        /// Rows stored and pending.
        var count: Int
        var newRows = MinimumHeap<Age>()
        var stored: OldestMessages
    }

    private let cap: Int
    private var entries: [Entry] = []
    private var values = ValueChunks()
    /// The newest entry of each packet identifier, see `group`.
    private var newest = FlatMap()
    private var threads: [Thread] = []
    private var threadPlaces: [MessageThread: Int] = [:]
    private var removed = RemovedMessages()
    /// Whether the committed tables may hold rows.
    private var hasStoredRows = true

    init(cap: Int) { self.cap = cap }

    var pendingBytes: Int { values.byteCount + entries.count * 160 + removed.byteCount }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        hasStoredRows = try transaction.count(store.table("messages")) > 0
        try fit(store)
    }

    /// Removes rows of stored threads beyond the cap, which a baseline has that was made under a larger cap.
    private mutating func fit(_ store: ViewStore) throws(StorageError) {
        var excess: [MessageThread] = []
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("counts"))
        while try cursor.next() {
            guard cursor.key.byteCount == 9, cursor.value.byteCount == 8, cursor.value.bigEndianUInt64(at: 0) > UInt64(cap) else {
                continue
            }
            excess.append(MessageThread(kind: cursor.key.byte(at: 0), value: cursor.key.bigEndianUInt64(at: 1)))
        }
        for thread in excess { try evict(from: self.thread(thread, in: store), store) }
    }

    mutating func insert(_ row: MessageRow, in store: ViewStore) throws(StorageError) {
        let place = add(row, isStored: false)
        let thread = try thread(row.thread, in: store)
        threads[thread].count += 1
        threads[thread].newRows.insert(Age(time: row.time, sequence: row.sequence, entry: place))
        if threads[thread].count > cap { try evict(from: thread, store) }
    }

    private mutating func add(_ row: MessageRow, isStored: Bool) -> Int {
        let place = entries.count
        let older = newest[Self.group(row.packet, row.firstSequence)] ?? -1
        entries.append(
            Entry(
                value: values.append { row.encode(to: &$0) }, sortKey: row.sortKey, packet: row.packet,
                firstSequence: row.firstSequence, older: older, isStored: isStored))
        newest.set(entries[place].group, Int32(place))
        return place
    }

    /// Packets without an id are each on their own: a sender may have any number of them.
    private static func group(_ packet: UInt64, _ firstSequence: UInt64) -> UInt64 {
        packet & 0xffff_ffff == 0 ? firstSequence : packet
    }

    /// The pending entry of a packet that `isWanted`, the newest first.
    private func entry(of group: UInt64, where isWanted: (Entry) -> Bool) -> Int? {
        var place = newest[group] ?? -1
        while place >= 0 {
            if !entries[Int(place)].isRemoved && isWanted(entries[Int(place)]) { return Int(place) }
            place = entries[Int(place)].older
        }
        return nil
    }

    private func entry(of packet: UInt64, _ firstSequence: UInt64) -> Int? {
        entry(of: Self.group(packet, firstSequence)) { $0.packet == packet && $0.firstSequence == firstSequence }
    }

    /// Changes the row of a packet.
    /// - Returns: whether it exists.
    mutating func update(
        from: UInt32, id: UInt32, firstSequence: UInt64, in store: ViewStore, _ change: (inout MessageRow) -> Void
    ) throws(StorageError) -> Bool {
        if let place = entry(of: UInt64(from) << 32 | UInt64(id), firstSequence) { return revise(place, change) }
        guard hasStoredRows, let row = try find(from: from, id: id, firstSequence: firstSequence, in: store) else { return false }
        revise(row, change)
        return true
    }

    /// Removes the row of a packet that another row replaces.
    /// - Returns: the row, or nil if it no longer exists.
    mutating func remove(
        from: UInt32, id: UInt32, firstSequence: UInt64, in store: ViewStore
    ) throws(StorageError) -> MessageRow? {
        let pending = entry(of: UInt64(from) << 32 | UInt64(id), firstSequence)
        var isStored = hasStoredRows && pending == nil
        var found: MessageRow?
        if let pending {
            found = row(of: entries[pending])
            isStored = entries[pending].isStored
            entries[pending].isRemoved = true
        } else if hasStoredRows {
            found = try find(from: from, id: id, firstSequence: firstSequence, in: store)
        }
        guard let row = found else { return nil }
        if isStored { removed.insert(StoredMessage(row)) }
        threads[try thread(row.thread, in: store)].count -= 1
        return row
    }

    /// A row of a packet identifier, pending or stored.
    private struct Candidate {
        var time: UInt32
        let firstSequence: UInt64
        /// Nil where it is stored and did not change.
        let entry: Int?
        /// Where it is stored.
        let rowKey: [UInt8]
    }

    /// Changes the row of a key: of those with its packet id, the one nearest in time; of equals, the first.
    /// - Returns: whether it exists.
    @discardableResult
    mutating func update(
        _ key: MessageKey, in store: ViewStore, _ change: (inout MessageRow) -> Void
    ) throws(StorageError) -> Bool {
        guard key.id != 0 else { return false }
        func distance(_ row: Candidate) -> UInt32 { row.time > key.time ? row.time - key.time : key.time - row.time }
        let best = try candidates(from: key.from, id: key.id, in: store).filter { distance($0) <= MessageKey.reach }
            .min { (distance($0), $0.firstSequence) < (distance($1), $1.firstSequence) }
        guard let best else { return false }
        return try revise(best, in: store, change)
    }

    /// Changes the newest row of a packet identifier; those with the import's time count as the oldest.
    /// - Returns: whether it exists.
    mutating func updateNewest(
        from: UInt32, id: UInt32, in store: ViewStore, _ change: (inout MessageRow) -> Void
    ) throws(StorageError) -> Bool {
        var found = try candidates(from: from, id: id, in: store)
        if found.count > 1 {
            for index in found.indices where try row(of: found[index], in: store)?.timeSource == .import {
                found[index].time = 0
            }
        }
        guard let newest = found.max(by: { ($0.time, $0.firstSequence) < ($1.time, $1.firstSequence) }) else { return false }
        return try revise(newest, in: store, change)
    }

    private func candidates(from: UInt32, id: UInt32, in store: ViewStore) throws(StorageError) -> [Candidate] {
        var found: [Candidate] = []
        var pending: Set<UInt64> = []
        var place = newest[UInt64(from) << 32 | UInt64(id)] ?? -1
        while place >= 0 {
            let entry = entries[Int(place)]
            if hasStoredRows { pending.insert(entry.firstSequence) }
            if !entry.isRemoved {
                let time = UInt32(truncatingIfNeeded: entry.sortKey.1)
                found.append(Candidate(time: time, firstSequence: entry.firstSequence, entry: Int(place), rowKey: []))
            }
            place = entry.older
        }
        guard hasStoredRows else { return found }
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("packets"))
        let prefix = bigEndian(from) + bigEndian(id)
        var isThere = try cursor.seek(atOrAfter: prefix.rawSpan)
        while isThere, cursor.key.byteCount == 16, cursor.key.starts(with: prefix) {
            let firstSequence = cursor.key.bigEndianUInt64(at: 8)
            let rowKey = cursor.value.asArray
            if rowKey.count == MessageRow.keySize, !pending.contains(firstSequence), !removed.contains(rowKey) {
                let time = rowKey.rawSpan.bigEndianUInt32(at: 9)
                found.append(Candidate(time: time, firstSequence: firstSequence, entry: nil, rowKey: rowKey))
            }
            isThere = try cursor.next()
        }
        return found
    }

    private func row(of candidate: Candidate, in store: ViewStore) throws(StorageError) -> MessageRow? {
        if let entry = candidate.entry { return row(of: entries[entry]) }
        return try MessageRow.read(candidate.rowKey, store.environment.beginRead(), store.table("messages"))
    }

    private mutating func revise(
        _ candidate: Candidate, in store: ViewStore, _ change: (inout MessageRow) -> Void
    ) throws(StorageError) -> Bool {
        if let entry = candidate.entry { return revise(entry, change) }
        guard let row = try row(of: candidate, in: store) else { return false }
        revise(row, change)
        return true
    }

    /// A stored row, which becomes a pending one.
    private mutating func revise(_ row: MessageRow, _ change: (inout MessageRow) -> Void) {
        var row = row
        change(&row)
        _ = add(row, isStored: true)
    }

    private mutating func revise(_ place: Int, _ change: (inout MessageRow) -> Void) -> Bool {
        guard var row = row(of: entries[place]) else { return false }
        change(&row)
        entries[place].value = values.append { row.encode(to: &$0) }
        return true
    }

    /// Not inlined, since a chunk that is still referenced when the next value is added would be copied.
    @inline(never)
    private func row(of entry: Entry) -> MessageRow? {
        let key = MessageRow.key(entry.sortKey)
        let chunk = values.chunk(of: entry.value)
        return MessageRow(key: key.rawSpan, value: chunk.rawSpan.extracting(entry.value.range))
    }

    private func find(
        from: UInt32, id: UInt32, firstSequence: UInt64, in store: ViewStore
    ) throws(StorageError) -> MessageRow? {
        let transaction = try store.environment.beginRead()
        let key = MessageRow.packetKey(from: from, id: id, firstSequence: firstSequence)
        guard let rowKey = try transaction.get(store.table("packets"), key.rawSpan)?.asArray, !removed.contains(rowKey) else {
            return nil
        }
        return try MessageRow.read(rowKey, transaction, store.table("messages"))
    }

    // MARK: Caps

    private mutating func thread(_ id: MessageThread, in store: ViewStore) throws(StorageError) -> Int {
        if let known = threadPlaces[id] { return known }
        let transaction = try store.environment.beginRead()
        let prefix = id.key
        let count = try transaction.get(store.table("counts"), prefix.rawSpan)?.bigEndianUInt64(at: 0) ?? 0
        threads.append(Thread(id: id, count: Int(truncatingIfNeeded: count), stored: OldestMessages(of: id)))
        threadPlaces[id] = threads.count - 1
        return threads.count - 1
    }

    private mutating func evict(from thread: Int, _ store: ViewStore) throws(StorageError) {
        guard hasStoredRows else { return evictPending(from: thread) }
        while threads[thread].count > cap {
            let stored = try threads[thread].stored.first(except: removed, in: store)
            let pending = smallest(of: thread)
            if let stored, pending.map({ stored.sortKey < entries[$0.entry].sortKey }) ?? true {
                removeStored(stored)
            } else if let oldest = threads[thread].newRows.removeSmallest() {
                entries[oldest.entry].isRemoved = true
            } else {
                return
            }
            threads[thread].count -= 1
        }
    }

    private mutating func evictPending(from thread: Int) {
        while threads[thread].count > cap, smallest(of: thread) != nil, let oldest = threads[thread].newRows.removeSmallest() {
            entries[oldest.entry].isRemoved = true
            threads[thread].count -= 1
        }
    }

    /// The earliest pending row, except those that were removed since.
    private mutating func smallest(of thread: Int) -> Age? {
        while let smallest = threads[thread].newRows.smallest, entries[smallest.entry].isRemoved {
            threads[thread].newRows.removeSmallest()
        }
        return threads[thread].newRows.smallest
    }

    private mutating func removeStored(_ row: StoredMessage) {
        removed.insert(row)
        let group = Self.group(row.packet, row.firstSequence)
        while let place = entry(of: group, where: { $0.sortKey == row.sortKey }) { entries[place].isRemoved = true }
    }

    // MARK: Storage

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        let table = try store.table("messages")
        let packets = try store.table("packets")
        try removed.delete(from: table, packets, of: &transaction)
        try writeRows(to: &transaction, table)
        try writePackets(to: &transaction, packets)
        let counts = try store.table("counts")
        for thread in threads {
            try transaction.put(counts, key: thread.id.key.rawSpan, value: bigEndian(UInt64(thread.count)).rawSpan)
        }
    }

    private func writeRows(to transaction: inout WriteTransaction, _ table: RawTable) throws(StorageError) {
        let mode: PutMode = try transaction.count(table) == 0 ? .append : .replace
        let order = entries.indices.filter { !entries[$0].isRemoved }.map { (entries[$0].sortKey, $0) }.sorted { $0.0 < $1.0 }
        var key = [UInt8](repeating: 0, count: MessageRow.keySize)
        var cursor = try transaction.writeCursor(table)
        for (sortKey, place) in order {
            MessageRow.store(sortKey, into: &key)
            let value = entries[place].value
            let chunk = values.chunk(of: value)
            try cursor.put(key: key.rawSpan, value: chunk.rawSpan.extracting(value.range), mode)
        }
    }

    private func writePackets(to transaction: inout WriteTransaction, _ table: RawTable) throws(StorageError) {
        let mode: PutMode = try transaction.count(table) == 0 ? .append : .replace
        let isNew = { (entry: Entry) in !entry.isRemoved && !entry.isStored }
        let order = entries.indices.filter { isNew(entries[$0]) }.map { (entries[$0].packet, entries[$0].firstSequence, $0) }
            .sorted { $0 < $1 }
        var packetKey = [UInt8](repeating: 0, count: MessageRow.packetKeySize)
        var rowKey = [UInt8](repeating: 0, count: MessageRow.keySize)
        var cursor = try transaction.writeCursor(table)
        for (packet, firstSequence, place) in order {
            MessageRow.store(packet, firstSequence, into: &packetKey)
            MessageRow.store(entries[place].sortKey, into: &rowKey)
            try cursor.put(key: packetKey.rawSpan, value: rowKey.rawSpan, mode)
        }
    }

    mutating func committed() {
        entries.removeAll(keepingCapacity: true)
        values.removeAll()
        newest = FlatMap(minimumCapacity: newest.count)
        threads.removeAll(keepingCapacity: true)
        threadPlaces.removeAll(keepingCapacity: true)
        removed = RemovedMessages(minimumCapacity: removed.count)
        hasStoredRows = true
    }
}
