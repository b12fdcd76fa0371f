internal import LMDB

/// What copies of another log's events have besides their records: origins and salts, so that their hashes are the
/// same in every log.
package struct CopiedParts: Sendable {
    /// For all events of the batch, or empty if they are the log's own.
    package var origins: [OriginRun] = []
    /// A salt for each event; empty if those of whole tiles are given.
    package var salts: [UInt8] = []
    /// The stored salts of whole tiles, as in the log that they come from.
    package var tiles: [UInt64: [UInt8]] = [:]
    /// Erased copies whose erasure is not recorded by an event yet.
    package var unrecorded: UnrecordedErasures?

    package init() {}

    /// - Parameter first: the first event's sequence.
    func put(first: UInt64, _ write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        if !origins.isEmpty, let table = store.origins {
            let key = SequenceKey(first)
            let row = OriginRow.bytes(origins, first: first)
            try write.put(table, key: key.span, value: row.span.rawBytes)
        }
        try unrecorded?.put(first: first, &write, store)
        for (tile, stored) in tiles {
            let key = SequenceKey(tile)
            try write.put(store.salts, key: key.span, value: stored.span.rawBytes)
        }
        let count = UInt64(salts.count / TileSalts.saltSize)
        var next = first
        while next < first + count {
            let tile = (next - 1) / LogStore.tileSize
            let end = min((tile + 1) * LogStore.tileSize + 1, first + count)
            let key = SequenceKey(tile)
            // The stored row has the salts of earlier events, or random ones.
            guard let stored = try write.get(store.salts, key.span)?.copied, var tileSalts = TileSalts(stored: stored)?.bytes
            else {
                throw .malformed(TileSalts.self)
            }
            let place = TileSalts.saltSize * Int((next - 1) % LogStore.tileSize)
            let start = TileSalts.saltSize * Int(next - first)
            let length = TileSalts.saltSize * Int(end - next)
            tileSalts.replaceSubrange(place..<place + length, with: salts[start..<start + length])
            try write.put(store.salts, key: key.span, value: tileSalts.span.rawBytes)
            next = end
        }
    }
}
