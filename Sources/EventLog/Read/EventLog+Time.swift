internal import LMDB

extension EventLog {
    /// The last event that had arrived by then: the highest sequence with an arrival time up to `time`. Zero if no event had arrived.
    ///
    /// If the clock only moved forward this costs about a microsecond; if it jumped, at most a pass over one entry per 256 events.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func lastSequence(arrivedBy time: Timestamp) throws(EventLogError) -> EventSequence {
        let reader = try beginRead()
        let tile = try lastTile(reader) { $0.lowest <= time.microseconds }
        return try lastEvent(reader, in: tile) { $0 <= time.microseconds }
    }

    /// The first event that arrived then or later. Nil if none did.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func firstSequence(arrivedFrom time: Timestamp) throws(EventLogError) -> EventSequence? {
        let reader = try beginRead()
        return try firstEvent(reader, from: time.microseconds)
    }
}

extension EventLog {
    /// The events that arrived within the times, as ascending runs of sequences that are never adjacent: one run if the clock only moved forward;
    /// if it jumped, each stretch within the times.
    ///
    /// - Parameters:
    ///   - start: nil for all from the first event on.
    ///   - end: only events that arrived before it; nil for all.
    /// - Complexity: one lookup per 256 events; single events are read only where one of the times falls among 256 of them.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func runs(arrivedFrom start: Timestamp?, before end: Timestamp?) throws(EventLogError) -> [ClosedRange<EventSequence>]
    {
        let reader = try beginRead()
        guard reader.first <= reader.head else { return [] }
        if start == nil, end == nil { return [reader.first...reader.head] }
        let (lowest, limit) = (start?.microseconds ?? .min, end?.microseconds ?? .max)
        var runs: [ClosedRange<EventSequence>] = []
        func add(_ first: UInt64, _ last: UInt64) {
            runs.join(EventSequence(first)...EventSequence(last))
        }
        func look(_ first: UInt64, _ last: UInt64) throws(EventLogError) {
            var cursor = try reader.cursor()
            var isThere = try cursor.seek(EventSequence(first))
            while isThere, cursor.sequence.rawValue <= last {
                let arrival = try arrival(cursor)
                if arrival >= lowest && (arrival < limit || end == nil) {
                    add(cursor.sequence.rawValue, cursor.sequence.rawValue)
                }
                isThere = try cursor.next()
            }
        }
        let full = Self.tiles(reader)
        for (tile, range) in try fullTiles(reader) {
            let (first, last) = (tile * LogStore.tileSize + 1, (tile + 1) * LogStore.tileSize)
            if range.lowest >= lowest && (range.highest < limit || end == nil) {
                add(first, last)
            } else if range.highest >= lowest && (range.lowest < limit || end == nil) {
                try look(first, last)
            }
        }
        let open = max(full * LogStore.tileSize, reader.cut) + 1
        if open <= reader.head.rawValue { try look(open, reader.head.rawValue) }
        return runs
    }

    /// The arrivals of all full tiles that are kept.
    func fullTiles(_ reader: borrowing LogReader) throws(EventLogError) -> [(tile: UInt64, range: ArrivalRange)] {
        try storing { () throws(StorageError) in
            var found: [(tile: UInt64, range: ArrivalRange)] = []
            var tiles = try reader.transaction.cursor(reader.store.arrivals)
            let key = SequenceKey(reader.cut / LogStore.tileSize)
            var isThere = try tiles.seek(atOrAfter: key.span)
            while isThere, let tile = SequenceKey.sequence(tiles.key), tile < Self.tiles(reader) {
                guard let range = ArrivalRange(tiles.value) else { throw .malformed(ArrivalRange.self) }
                found.append((tile, range))
                isThere = try tiles.next()
            }
            return found
        }
    }

    private static func tiles(_ reader: borrowing LogReader) -> UInt64 { reader.head.rawValue / LogStore.tileSize }

    /// The last tile that may contain a match; the one after the last full tile if that has events. Nil if there is none.
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

    func arrival(_ cursor: borrowing EventCursor) throws(EventLogError) -> Int64 {
        guard cursor.record.byteCount >= RecordHeader.size else { throw damage(cursor.sequence) }
        return Record.arrival(cursor.record)
    }
}
