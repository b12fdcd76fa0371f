package import LMDB
package import MeshCrypto

/// Where a new log begins if it replaces one whose first events were dropped.
package struct LogBeginning: Sendable {
    package typealias OriginRows = @Sendable (_ body: (UInt64, [UInt8]) throws(StorageError) -> Void) throws(StorageError) -> Void

    /// The last event before its first.
    package let cut: UInt64
    /// The checksum of that event's record.
    package let checksum: UInt64
    /// The event that records the cut, if it is among those that follow.
    package var event: UInt64 = 0
    /// The hashes of earlier tiles, as far as known.
    package let hash: @Sendable (_ tile: UInt64) throws(StorageError) -> SHA256Digest?
    /// The nodes that are needed for checkpoints that end among the dropped events.
    package var nodes: [KeptNode] = []
    /// Rows with the origins of dropped events, so that those are not imported again.
    package var origins: OriginRows = { (_) throws(StorageError) in }

    /// How many rows one transaction writes.
    private static let step: UInt64 = 4_096

    package init(
        cut: UInt64, checksum: UInt64, event: UInt64 = 0,
        hash: @escaping @Sendable (_ tile: UInt64) throws(StorageError) -> SHA256Digest?
    ) {
        (self.cut, self.checksum, self.event, self.hash) = (cut, checksum, event, hash)
    }

    /// Writes what remains of these events. A lost hash becomes zeros, so that nothing computed from it matches.
    package func write(to store: LogStore) throws(StorageError) {
        var frontier = TreeFrontier()
        let tiles = cut / LogStore.tileSize
        for first in stride(from: 0 as UInt64, to: tiles, by: UInt64.Stride(Self.step)) {
            var rows: [TreeWork.Row] = []
            for tile in first..<min(first + Self.step, tiles) { frontier.add(try hash(tile) ?? Self.unknown, to: &rows) }
            try store.environment.write { (write) throws(StorageError) in
                for row in rows {
                    let key = row.key.buffer
                    try write.put(store.tree, key: key.bytes, value: row.hash.span)
                }
            }
        }
        try writeOrigins(to: store)
        try store.environment.write { (write) throws(StorageError) in
            let numbers = Table<String, UInt64>(raw: store.meta)
            try write.put(numbers, CutRow.cut, cut)
            try write.put(numbers, CutRow.checksum, checksum)
            if event > 0 { try write.put(numbers, CutRow.event, event) }
            for node in nodes {
                let name = CutRow.node(level: node.level, place: node.place)
                try write.put(Table<String, [UInt8]>(raw: store.meta), name, node.hash.bytes)
            }
        }
    }

    private func writeOrigins(to store: LogStore) throws(StorageError) {
        guard let table = store.origins else { return }
        var rows: [(first: UInt64, row: [UInt8])] = []
        func flush() throws(StorageError) {
            try store.environment.write { (write) throws(StorageError) in
                for (first, row) in rows {
                    let key = SequenceKey(first)
                    try write.put(table, key: key.span, value: row.span.rawBytes)
                }
            }
            rows.removeAll(keepingCapacity: true)
        }
        try origins { (first, row) throws(StorageError) in
            guard let kept = OriginRow.bytes(row, first: first, through: cut) else { return }
            rows.append((first, kept))
            if rows.count == Self.step { try flush() }
        }
        try flush()
    }

    private static let unknown: SHA256Digest = {
        let zeros = [UInt8](repeating: 0, count: SHA256Digest.size)
        return SHA256Digest(zeros.span.rawBytes) ?? MerkleHasher.emptyRoot
    }()
}

extension OriginRow {
    /// The part of a row about events up to `last`; nil if that is empty, or the row cannot be read.
    package static func bytes(_ row: [UInt8], first: UInt64, through last: UInt64) -> [UInt8]? {
        guard first <= last, let runs = runs(row.span.rawBytes, first: first) else { return nil }
        let count = last - first + 1
        return runs.eventCount <= count ? row : bytes(runs.split(at: count).0, first: first)
    }
}
