package import LMDB
package import MeshCrypto

/// The key of a full subtree whose hash is stored: the events `number` × 256^`level` + 1 and so on, 256^`level` of them.
package struct SubtreeKey: Sendable {
    /// Hashes of single events are never stored; eight levels hold more events than a sequence can count.
    static let levels: ClosedRange<UInt8> = 1...7

    let level: UInt8
    let number: UInt64

    package init(level: UInt8, number: UInt64) { (self.level, self.number) = (level, number) }

    /// Higher levels come first, so that the many hashes of level 1 are appended at the table's end.
    var buffer: KeyBuffer {
        var buffer = KeyBuffer()
        buffer.append(255 - level)
        buffer.append(number)
        return buffer
    }
}

extension LogStore {
    package func treeHash(_ key: SubtreeKey, _ read: borrowing ReadTransaction) throws(StorageError) -> SHA256Digest? {
        let buffer = key.buffer
        guard let bytes = try read.get(tree, buffer.bytes) else { return nil }
        guard let hash = SHA256Digest(bytes) else { throw .malformed(SHA256Digest.self) }
        return hash
    }

    /// The number of tiles that the tree has hashes of.
    func hashedTiles(_ read: borrowing some TransactionReading & ~Copyable) throws(StorageError) -> UInt64 {
        var cursor = try read.cursor(tree)
        guard try cursor.last() else { return 0 }
        guard cursor.key.byteCount == 9, let number = SequenceKey.sequence(cursor.key.extracting(droppingFirst: 1)),
            number < UInt64.max / LogStore.tileSize  // a tree cannot cover more events than there are sequences
        else { throw .malformed(SubtreeKey.self) }
        return number + 1
    }
}
