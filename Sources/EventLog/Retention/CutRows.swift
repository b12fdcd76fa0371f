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

    /// The hash of the 2^level dropped events after `place`, of which a checkpoint ends within their tile.
    static func node(level: Int, place: UInt64) -> String { "node \(level) \(place)" }
}

extension LogReader {
    package func cutNumber(_ row: String) throws(EventLogError) -> UInt64? {
        try storing { () throws(StorageError) in try store.metaNumber(row, transaction) }
    }
}

/// A hash below the level of tiles that is kept of dropped events.
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

/// What a cut stores, in the transaction that appends its event.
struct LogCut: Sendable {
    let event: NewEvent
    /// The last event that is dropped.
    let last: UInt64
    /// The stored checksum of its record.
    let checksum: UInt64
    let nodes: [KeptNode]

    func write(to write: inout WriteTransaction, _ store: LogStore, event: UInt64) throws(StorageError) {
        let numbers = Table<String, UInt64>(raw: store.meta)
        try write.put(numbers, CutRow.cut, last)
        try write.put(numbers, CutRow.checksum, checksum)
        try write.put(numbers, CutRow.event, event)
        for node in nodes {
            let name = CutRow.node(level: node.level, place: node.place)
            try write.put(Table<String, [UInt8]>(raw: store.meta), name, node.hash.bytes)
        }
    }
}
