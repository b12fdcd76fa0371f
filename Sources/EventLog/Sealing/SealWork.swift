internal import LMDB

/// Blocks that move into the log and replace the records they were made from.
struct SealWork: PreparedWork {
    let blocks: [EncodedBlock]
    /// The stored checksums of their records: a record that was erased meanwhile is not brought back.
    let checksums: [UInt64]
    let whenEnded: @Sendable (StorageError?) -> Void

    /// The last event that they seal.
    var last: UInt64 { blocks.last?.last ?? 0 }

    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        guard let first = blocks.first?.first, try store.extent(write).lastSealed + 1 == first else {
            throw StorageError(.busy, call: "sealing", path: store.environment.path)
        }
        do {
            var cursor = try write.writeCursor(store.events)
            var isThere = try cursor.place.first()
            for (place, checksum) in checksums.enumerated() {
                guard isThere, SequenceKey.sequence(cursor.place.key) == first + UInt64(place),
                    cursor.place.value.byteCount >= RecordHeader.size, Record.checksum(cursor.place.value) == checksum
                else {
                    throw StorageError(.corrupt, call: "sealing event \(first + UInt64(place))", path: store.environment.path)
                }
                try cursor.delete()
                isThere = try cursor.place.next()
            }
        }
        for block in blocks {
            let key = SequenceKey(block.first)
            try write.put(store.sealed, key: key.span, value: block.bytes.span.rawBytes, .append)
        }
    }

    func ended(_ failure: StorageError?) { whenEnded(failure) }
}
