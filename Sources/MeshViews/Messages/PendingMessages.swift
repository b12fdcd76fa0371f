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
        /// Stored rows below this key are already evicted.
        var floor: [UInt8]
    }

    private let cap: Int
    private var entries: [Entry] = []
    private var values = ValueChunks()
    /// The newest entry of each packet identifier, see `group`.
    private var newest = FlatMap()
    private var threads: [Thread] = []
    private var threadPlaces: [MessageThread: Int] = [:]
    private var removedRows: Set<[UInt8]> = []
    private var removedPackets: Set<[UInt8]> = []
    /// Whether the committed tables may hold rows.
    private var hasStoredRows = true

    init(cap: Int) { self.cap = cap }

    var pendingBytes: Int { values.byteCount + entries.count * 160 + removedRows.count * 96 }

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

    /// Changes the row of a packet; the newest with that id if the first sequence is unknown.
    /// - Returns: whether it exists.
    mutating func update(
        from: UInt32, id: UInt32, firstSequence: UInt64?, in store: ViewStore, _ change: (inout MessageRow) -> Void
    ) throws(StorageError) -> Bool {
        let packet = UInt64(from) << 32 | UInt64(id)
        if let firstSequence, let place = entry(of: packet, firstSequence) { return revise(place, change) }
        let latest = firstSequence == nil ? latestEntry(of: packet) : nil
        let stored = hasStoredRows ? try find(from: from, id: id, firstSequence: firstSequence, in: store) : nil
        if let latest, entries[latest].firstSequence >= stored?.firstSequence ?? 0 {
            return revise(latest, change)
        }
        guard var stored else { return false }
        change(&stored)
        _ = add(stored, isStored: true)
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
        if isStored {
            removedRows.insert(row.key)
            removedPackets.insert(MessageRow.packetKey(from: from, id: id, firstSequence: firstSequence))
        }
        threads[try thread(row.thread, in: store)].count -= 1
        return row
    }

    /// Changes the row of a key: of those with its packet id, the one nearest in time; of equals, the first.
    /// - Returns: whether it exists.
    @discardableResult
    mutating func update(
        _ key: MessageKey, in store: ViewStore, _ change: (inout MessageRow) -> Void
    ) throws(StorageError) -> Bool {
        guard key.id != 0 else { return false }
        var best: (distance: UInt32, firstSequence: UInt64, entry: Int?, rowKey: [UInt8])?
        func offer(_ time: UInt32, _ firstSequence: UInt64, _ entry: Int?, _ rowKey: [UInt8]) {
            let distance = time > key.time ? time - key.time : key.time - time
            guard distance <= MessageKey.reach else { return }
            if let known = best, (known.distance, known.firstSequence) <= (distance, firstSequence) { return }
            best = (distance, firstSequence, entry, rowKey)
        }
        var pending: Set<UInt64> = []
        var place = newest[UInt64(key.from) << 32 | UInt64(key.id)] ?? -1
        while place >= 0 {
            let entry = entries[Int(place)]
            pending.insert(entry.firstSequence)
            let time = UInt32(truncatingIfNeeded: entry.sortKey.1)
            if !entry.isRemoved { offer(time, entry.firstSequence, Int(place), []) }
            place = entry.older
        }
        if hasStoredRows {
            try forEachStored(of: key, in: store) { firstSequence, rowKey in
                guard !pending.contains(firstSequence), !removedRows.contains(rowKey) else { return }
                offer(rowKey.rawSpan.bigEndianUInt32(at: 9), firstSequence, nil, rowKey)
            }
        }
        guard let best else { return false }
        if let entry = best.entry { return revise(entry, change) }
        let transaction = try store.environment.beginRead()
        guard var row = try MessageRow.read(best.rowKey, transaction, store.table("messages")) else { return false }
        change(&row)
        _ = add(row, isStored: true)
        return true
    }

    /// Passes the committed rows of a packet id: the packets' first sequences, and the rows' keys.
    private func forEachStored(
        of key: MessageKey, in store: ViewStore, _ body: (UInt64, [UInt8]) -> Void
    ) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("packets"))
        let prefix = bigEndian(key.from) + bigEndian(key.id)
        var isThere = try cursor.seek(atOrAfter: prefix.rawSpan)
        while isThere, cursor.key.byteCount == 16, cursor.key.starts(with: prefix) {
            if cursor.value.byteCount == MessageRow.keySize { body(cursor.key.bigEndianUInt64(at: 8), cursor.value.asArray) }
            isThere = try cursor.next()
        }
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
        return MessageRow.decode(key: key.rawSpan, value: chunk.rawSpan.extracting(entry.value.range))
    }

    /// The pending entry of a packet identifier with the latest first reception.
    private func latestEntry(of packet: UInt64) -> Int? {
        var latest: Int?
        var place = newest[packet] ?? -1
        while place >= 0 {
            let entry = Int(place)
            if !entries[entry].isRemoved && (latest.map { entries[$0].firstSequence <= entries[entry].firstSequence } ?? true) {
                latest = entry
            }
            place = entries[entry].older
        }
        return latest
    }

    private func find(
        from: UInt32, id: UInt32, firstSequence: UInt64?, in store: ViewStore
    ) throws(StorageError) -> MessageRow? {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("packets"))
        let wanted = MessageRow.packetKey(from: from, id: id, firstSequence: firstSequence ?? .max)
        var isThere = try cursor.seek(atOrBefore: wanted.rawSpan)
        while isThere {
            let key = cursor.key.asArray
            guard key.count == 16, key.starts(with: wanted.prefix(8)), firstSequence == nil || key == wanted else { return nil }
            let rowKey = cursor.value.asArray
            // The newest of the id may be removed by the next commit; an older one, of another thread, may stay.
            if !removedRows.contains(rowKey) { return try MessageRow.read(rowKey, transaction, store.table("messages")) }
            isThere = try cursor.previous()
        }
        return nil
    }

    // MARK: Caps

    private mutating func thread(_ id: MessageThread, in store: ViewStore) throws(StorageError) -> Int {
        if let known = threadPlaces[id] { return known }
        let transaction = try store.environment.beginRead()
        let prefix = id.key
        let count = try transaction.get(store.table("counts"), prefix.rawSpan)?.bigEndianUInt64(at: 0) ?? 0
        threads.append(Thread(id: id, count: Int(truncatingIfNeeded: count), floor: prefix))
        threadPlaces[id] = threads.count - 1
        return threads.count - 1
    }

    private mutating func evict(from thread: Int, _ store: ViewStore) throws(StorageError) {
        guard hasStoredRows else { return evictPending(from: thread) }
        let prefix = threads[thread].id.key
        let transaction = try store.environment.beginRead()
        let table = try store.table("messages")
        var cursor = try transaction.cursor(table)
        while threads[thread].count > cap {
            let floor = threads[thread].floor
            let isThere = try cursor.seek(atOrAfter: floor.rawSpan)
            let key = isThere ? cursor.key.asArray : []
            let stored = key.starts(with: prefix) ? key : nil
            if let stored, removedRows.contains(stored) {  // removed, and counted, when another row replaced it
                threads[thread].floor = stored + [0]
                continue
            }
            let pending = smallest(of: thread).map { MessageRow.key(entries[$0.entry].sortKey) }
            if let stored, pending.map({ stored.lexicographicallyPrecedes($0) }) ?? true {
                try removeStored(stored, transaction, table)
                threads[thread].floor = stored + [0]
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

    private mutating func removeStored(
        _ key: [UInt8], _ transaction: borrowing ReadTransaction, _ table: RawTable
    ) throws(StorageError) {
        removedRows.insert(key)
        guard let row = try MessageRow.read(key, transaction, table) else { return }
        removedPackets.insert(MessageRow.packetKey(from: row.from, id: row.id, firstSequence: row.firstSequence))
        let group = Self.group(row.packet, row.firstSequence)
        while let place = entry(of: group, where: { MessageRow.key($0.sortKey) == key }) { entries[place].isRemoved = true }
    }

    // MARK: Storage

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        let table = try store.table("messages")
        let packets = try store.table("packets")
        for key in removedRows.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try transaction.delete(table, key: key.rawSpan)
        }
        for key in removedPackets { try transaction.delete(packets, key: key.rawSpan) }
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
        var packetKey = [UInt8](repeating: 0, count: 16)
        var rowKey = [UInt8](repeating: 0, count: MessageRow.keySize)
        var cursor = try transaction.writeCursor(table)
        for (packet, firstSequence, place) in order {
            Projections.store(packet, length: 8, into: &packetKey, at: 0)
            Projections.store(firstSequence, length: 8, into: &packetKey, at: 8)
            MessageRow.store(entries[place].sortKey, into: &rowKey)
            try cursor.put(key: packetKey.rawSpan, value: rowKey.rawSpan, mode)
        }
    }

    mutating func committed() {
        entries.removeAll(keepingCapacity: true)
        values.removeAll()
        newest = FlatMap()
        threads.removeAll(keepingCapacity: true)
        threadPlaces.removeAll(keepingCapacity: true)
        removedRows.removeAll()
        removedPackets.removeAll()
        hasStoredRows = true
    }
}
