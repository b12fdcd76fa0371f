internal import LMDB

/// Removes part of what is still stored of dropped events.
struct DropWork: PreparedWork {
    /// The most blocks, and the most tiles, that one append waits for.
    private static let (mostBlocks, mostTiles) = (128, 1024)

    let summariser: EventSummariser?
    let whenEnded: @Sendable (StorageError?) -> Void

    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        let extent = try store.extent(write)
        let cut = extent.cut
        if let straddling = try removeBlocks(extent, of: &write, store) {
            try shorten(straddling, after: cut, of: &write, store)
        }
        for table in [store.arrivals, store.salts] { try removeTiles(below: cut / LogStore.tileSize, of: table, &write) }
    }

    func ended(_ failure: StorageError?) { whenEnded(failure) }

    /// - Returns: the first sequence of a block that contains the cut.
    private func removeBlocks(
        _ extent: LogExtent, of write: inout WriteTransaction, _ store: LogStore
    ) throws(StorageError) -> UInt64? {
        let cut = extent.cut
        var cursor = try write.writeCursor(store.sealed)
        var isThere = try cursor.place.first()
        for _ in 0..<Self.mostBlocks {
            guard isThere, let first = SequenceKey.sequence(cursor.place.key), first <= cut else { return nil }
            let isNextThere = try cursor.place.next()
            let next = isNextThere ? SequenceKey.sequence(cursor.place.key) ?? 0 : nil
            guard try isNextThere ? cursor.place.previous() : cursor.place.last() else { return nil }
            let end = BlockHeader(cursor.place.value, first: first)?.last ?? Self.end(before: next, extent)
            guard end <= cut else { return first }
            try cursor.delete()
            isThere = try cursor.place.first()
        }
        return nil
    }

    /// Where a block with a damaged header ends: before the first event of the next block, or where the blocks end.
    private static func end(before next: UInt64?, _ extent: LogExtent) -> UInt64 {
        next.map { max($0, 1) - 1 } ?? extent.lastSealed
    }

    /// Keeps only the events of a block after the cut. A damaged block stays as it is, so that `verify` still reports it.
    private func shorten(
        _ first: UInt64, after cut: UInt64, of write: inout WriteTransaction, _ store: LogStore
    ) throws(StorageError) {
        guard var run = try records(of: first, write, store) else { return }
        run.removeFirst(Int(clamping: cut + 1 - first))
        guard run.count > 0 else { return }
        let block = try BlockEncoder(summariser: summariser).encode(run, count: run.count)
        let key = SequenceKey(first)
        try write.delete(store.sealed, key: key.span)
        let newKey = SequenceKey(block.first)
        try write.put(store.sealed, key: newKey.span, value: block.bytes.span.rawBytes)
    }

    private func records(
        of first: UInt64, _ write: borrowing WriteTransaction, _ store: LogStore
    ) throws(StorageError) -> RecordRun? {
        let key = SequenceKey(first)
        var run = RecordRun()
        guard let value = try write.get(store.sealed, key.span) else { return nil }
        return try BlockDecoder().decode(value, first: first, into: &run) ? run : nil
    }

    private func removeTiles(
        below end: UInt64, of table: RawTable, _ write: inout WriteTransaction
    ) throws(StorageError) {
        var cursor = try write.writeCursor(table)
        var isThere = try cursor.place.first()
        var left = Self.mostTiles
        while isThere, left > 0, let tile = SequenceKey.sequence(cursor.place.key), tile < end {
            try cursor.delete()
            left -= 1
            isThere = try cursor.place.first()
        }
    }

    /// Whether something is left to remove.
    static func isNeeded(_ store: LogStore) throws(StorageError) -> Bool {
        let read = try store.environment.beginRead()
        let extent = try store.extent(read)
        let cut = extent.cut
        for table in [store.arrivals, store.salts] {
            var cursor = try read.cursor(table)
            if try cursor.first(), let tile = SequenceKey.sequence(cursor.key), tile < cut / LogStore.tileSize { return true }
        }
        var cursor = try read.cursor(store.sealed)
        guard try cursor.first(), let first = SequenceKey.sequence(cursor.key), first <= cut else { return false }
        guard let header = BlockHeader(cursor.value, first: first) else {
            let next = try cursor.next() ? SequenceKey.sequence(cursor.key) ?? 0 : nil
            return end(before: next, extent) <= cut
        }
        return header.last <= cut || header.isIntact(cursor.value)
    }
}
