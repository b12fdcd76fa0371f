internal import LMDB

/// The end of the log as found when opening it.
struct LogTail: Sendable {
    var head: UInt64
    /// The last event that retention has dropped, 0 if nothing was dropped.
    var cut: UInt64
    /// The arrival times of the events after the last full tile.
    var openTile = ArrivalRange()
    /// The last event's arrival; nil for an empty log.
    var lastArrival: Timestamp?

    /// Reads the end of the log and, if requested, checks the last events' checksums.
    init(_ store: LogStore, checksums: Bool) throws(EventLogError) {
        let reader = try storing { () throws(StorageError) in try LogReader(store) }
        head = reader.head.rawValue
        cut = reader.cut
        var problem = try storing { () throws(StorageError) in try Self.gap(reader) }
        if problem == nil { problem = try read(reader, checksums: checksums) }
        if let problem { throw EventLogError(.corrupt, path: store.environment.path, detail: problem) }
    }

    /// Whether something is missing, as far as can be determined in constant time.
    private static func gap(_ reader: borrowing LogReader) throws(StorageError) -> String? {
        let store = reader.store
        let head = reader.head.rawValue
        guard reader.cut % LogStore.tileSize == 0, reader.cut <= head else {
            return "the record of what retention dropped does not match the events"
        }
        // After an interrupted cut, rows of dropped events may remain.
        var tiles = try reader.transaction.cursor(store.arrivals)
        let full = head / LogStore.tileSize
        let firstTile = try tiles.first() ? SequenceKey.sequence(tiles.key) ?? .max : full
        guard firstTile <= min(full, reader.cut / LogStore.tileSize),
            try reader.transaction.count(store.arrivals) == Int(clamping: full - firstTile)
        else { return "the index of arrival times does not match the events" }
        guard reader.lastSealed > reader.cut else { return nil }
        var blocks = try reader.transaction.cursor(store.sealed)
        guard try blocks.last(), let first = SequenceKey.sequence(blocks.key) else { throw .malformed(UInt64.self) }
        // If the header itself is damaged, `verify` reports it.
        if let header = BlockHeader(blocks.value, first: first), header.last != reader.lastSealed {
            return "events are missing between \(header.last) and \(reader.lastSealed + 1)"
        }
        guard try blocks.first(), SequenceKey.sequence(blocks.key) ?? .max <= reader.cut + 1 else {
            return "the first events are missing"
        }
        return nil
    }

    /// - Returns: what is wrong with the last events, or nil.
    private mutating func read(_ reader: borrowing LogReader, checksums: Bool) throws(EventLogError) -> String? {
        guard head > 0 else { return nil }
        let firstOpen = head / LogStore.tileSize * LogStore.tileSize + 1
        guard head > reader.cut else { return nil }
        let firstChecked = max(head > LogStore.tileSize ? head - LogStore.tileSize : 0, reader.cut) + 1
        var cursor = try reader.cursor()
        guard try cursor.seek(EventSequence(firstChecked)) else { return "event \(firstChecked) is missing" }
        for sequence in firstChecked...head {
            guard cursor.sequence.rawValue == sequence, cursor.record.byteCount >= RecordHeader.size else {
                return "event \(sequence) is missing"
            }
            if checksums && !cursor.isIntact { return "the checksum of event \(sequence) does not match its bytes" }
            if sequence == head { lastArrival = Timestamp(microseconds: Record.arrival(cursor.record)) }
            if sequence >= firstOpen { openTile.include(Record.arrival(cursor.record)) }
            _ = try cursor.next()
        }
        return nil
    }
}
