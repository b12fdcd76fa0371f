internal import LMDB
internal import MeshCrypto

/// Hashes of consecutive tiles and the subtrees that they complete.
struct TreeWork: PreparedWork {
    struct Row: Sendable {
        let key: SubtreeKey
        let hash: SHA256Digest
    }

    let firstTile: UInt64
    let rows: [Row]
    let onFailure: @Sendable () -> Void

    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        // If the previous work failed, there would be a gap.
        guard try store.hashedTiles(write) == firstTile else { return onFailure() }
        for row in rows {
            let buffer = row.key.buffer
            try write.put(store.tree, key: buffer.bytes, value: row.hash.span, row.key.level == 1 ? .append : .replace)
        }
    }

    func ended(_ failure: StorageError?) {
        if failure != nil { onFailure() }
    }
}
