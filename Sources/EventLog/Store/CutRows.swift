internal import LMDB
package import MeshCrypto

/// Rows of the table `meta` that record what retention has dropped.
package enum CutRow {
    /// The last event that was dropped.
    package static let cut = "cut"
    /// The checksum of that event's record.
    package static let checksum = "cut.checksum"
    /// The event that records the cut.
    package static let event = "cut.event"

    /// The hash of the 2^level dropped events after `place`, in a tile within which a checkpoint ends.
    static func node(level: Int, place: UInt64) -> String { "node \(level) \(place)" }
}

/// A kept hash of dropped events, below the level of tiles.
package struct KeptNode: Sendable {
    let level: Int
    package let place: UInt64
    let hash: SHA256Digest

    package init(level: Int, place: UInt64, hash: SHA256Digest) { (self.level, self.place, self.hash) = (level, place, hash) }
}

extension LogStore {
    func keptNode(level: Int, place: UInt64, _ read: borrowing ReadTransaction) throws(StorageError) -> SHA256Digest? {
        let table = Table<String, [UInt8]>(raw: meta)
        guard let bytes = try read.get(table, CutRow.node(level: level, place: place)) else { return nil }
        guard let hash = SHA256Digest(bytes.span.rawBytes) else { throw .malformed(SHA256Digest.self) }
        return hash
    }
}
