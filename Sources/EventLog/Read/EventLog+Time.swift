internal import LMDB

extension EventLog {
    /// The last event that had arrived by then: the highest sequence whose arrival time is `time` or before. Zero when there is none.
    ///
    /// Where the clock only rises this costs about a microsecond; where it jumped, at most a pass over one entry per 256 events.
    public func lastSequence(arrivedBy time: Timestamp) throws(EventLogError) -> EventSequence {
        let reader = try beginRead()
        let tile = try lastTile(reader) { $0.lowest <= time.microseconds }
        return try lastEvent(reader, in: tile) { $0 <= time.microseconds }
    }

    /// The first event that arrived then or later. Nil when there is none.
    public func firstSequence(arrivedFrom time: Timestamp) throws(EventLogError) -> EventSequence? {
        let reader = try beginRead()
        return try firstEvent(reader, from: time.microseconds)
    }
}

extension EventLog {
    private static func tiles(_ reader: borrowing LogReader) -> UInt64 { reader.head.rawValue / LogStore.tileSize }

    /// The last tile that may hold what is wanted; the one after the last full tile when that has events. Nil when none may.
    private func lastTile(
        _ reader: borrowing LogReader, _ mayHold: (ArrivalRange) -> Bool
    ) throws(EventLogError) -> UInt64? {
        let full = Self.tiles(reader)
        if reader.head.rawValue % LogStore.tileSize != 0, mayHold(try openTile(reader)) { return full }
        return try storing { () throws(StorageError) in
            var cursor = try reader.transaction.cursor(reader.store.arrivals)
            var isThere = try cursor.last()
            while isThere {
                guard let range = ArrivalRange(cursor.value), let tile = SequenceKey.sequence(cursor.key), tile < full else {
                    throw .malformed(ArrivalRange.self)
                }
                if tile < reader.cut / LogStore.tileSize { return nil }
                if mayHold(range) { return tile }
                isThere = try cursor.previous()
            }
            return nil
        }
    }

    private func openTile(_ reader: borrowing LogReader) throws(EventLogError) -> ArrivalRange {
        var range = ArrivalRange()
        var cursor = try reader.cursor()
        var isThere = try cursor.seek(EventSequence(Self.tiles(reader) * LogStore.tileSize + 1))
        while isThere {
            range.include(try arrival(cursor))
            isThere = try cursor.next()
        }
        return range
    }

    private func lastEvent(
        _ reader: borrowing LogReader, in tile: UInt64?, _ isWanted: (Int64) -> Bool
    ) throws(EventLogError) -> EventSequence {
        guard let tile else { return .zero }
        var cursor = try reader.cursor()
        var isThere = try cursor.seek(EventSequence(min((tile + 1) * LogStore.tileSize, reader.head.rawValue)))
        while isThere {
            if isWanted(try arrival(cursor)) { return cursor.sequence }
            isThere = try cursor.previous()
        }
        return .zero
    }

    private func firstEvent(_ reader: borrowing LogReader, from time: Int64) throws(EventLogError) -> EventSequence? {
        let tile = try storing { () throws(StorageError) in
            var tile = reader.cut / LogStore.tileSize
            var tiles = try reader.transaction.cursor(reader.store.arrivals)
            let key = SequenceKey(tile)
            var isThere = try tiles.seek(atOrAfter: key.span)
            while isThere {
                guard let range = ArrivalRange(tiles.value) else { throw .malformed(ArrivalRange.self) }
                if range.highest >= time { break }
                tile += 1
                isThere = try tiles.next()
            }
            return tile
        }
        var cursor = try reader.cursor()
        var isThere = try cursor.seek(EventSequence(tile * LogStore.tileSize + 1))
        while isThere {
            if try arrival(cursor) >= time { return cursor.sequence }
            isThere = try cursor.next()
        }
        return nil
    }

    private func arrival(_ cursor: borrowing EventCursor) throws(EventLogError) -> Int64 {
        guard cursor.record.byteCount >= RecordHeader.size else { throw damage(cursor.sequence) }
        return Record.arrival(cursor.record)
    }
}
