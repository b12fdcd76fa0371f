internal import LMDB
internal import MeshCrypto

/// Computes roots and proofs of the tree over a log's first events, in one read transaction.
///
/// Stored hashes of subtrees are trusted; hashes that the tree does not hold yet are computed from the events. Places count from 0.
struct TreeReader: ~Copyable {
    private(set) var tiles: TileReader
    private let hashedTiles: UInt64
    /// The last tile whose leaves were hashed.
    private var tile: (number: UInt64, leaves: [SHA256Digest])?

    var head: UInt64 { tiles.reader.head.rawValue }

    init(_ reader: consuming LogReader) throws(EventLogError) {
        hashedTiles = try storing { () throws(StorageError) in try reader.store.hashedTiles(reader.transaction) }
        tiles = TileReader(reader)
    }

    /// The root of the tree over the first `size` events.
    mutating func root(size: UInt64) throws(EventLogError) -> SHA256Digest {
        size == 0 ? MerkleHasher.emptyRoot : try hash(0..<size)
    }

    /// The hashes that lead from the leaf to the root (RFC 6962, section 2.1.1), nearest to the leaf first.
    mutating func inclusionProof(of place: UInt64, size: UInt64) throws(EventLogError) -> [SHA256Digest] {
        var proof: [SHA256Digest] = []
        var range = 0..<size
        while range.count > 1 {
            let middle = Self.middle(range)
            if place < middle {
                proof.append(try hash(middle..<range.upperBound))
                range = range.lowerBound..<middle
            } else {
                proof.append(try hash(range.lowerBound..<middle))
                range = middle..<range.upperBound
            }
        }
        return proof.reversed()
    }

    /// The hashes that show that the tree over `size` events begins with that over `old` (RFC 6962, section 2.1.2).
    mutating func consistencyProof(from old: UInt64, to size: UInt64) throws(EventLogError) -> [SHA256Digest] {
        guard old > 0, old < size else { return [] }
        var proof: [SHA256Digest] = []
        var range = 0..<size
        var isWholeOld = true  // the verifier knows the hash of the whole old tree
        while range.upperBound != old {
            let middle = Self.middle(range)
            if old <= middle {
                proof.append(try hash(middle..<range.upperBound))
                range = range.lowerBound..<middle
            } else {
                proof.append(try hash(range.lowerBound..<middle))
                range = middle..<range.upperBound
                isWholeOld = false
            }
        }
        if !isWholeOld { proof.append(try hash(range)) }
        return proof.reversed()
    }

    /// The hash of the leaf at this place.
    mutating func leaf(_ place: UInt64) throws(EventLogError) -> SHA256Digest { try hash(place..<place + 1) }

    /// Where the RFC splits a range: after the largest power of two that is smaller than its length.
    private static func middle(_ range: Range<UInt64>) -> UInt64 {
        let length = range.upperBound - range.lowerBound
        return range.lowerBound + 1 << UInt64(63 - (length - 1).leadingZeroBitCount)
    }

    /// The hash of a range, split as in the RFC.
    private mutating func hash(_ range: Range<UInt64>) throws(EventLogError) -> SHA256Digest {
        let length = range.upperBound - range.lowerBound
        if let stored = try storedHash(range) { return stored }
        if let kept = try keptHash(range) { return kept }
        if length == 1 { return try leafInTile(range.lowerBound) }
        let middle = Self.middle(range)
        let left = try hash(range.lowerBound..<middle)
        return tiles.nodeHash(left, try hash(middle..<range.upperBound))
    }

    /// The hash of a full subtree of 256^level events, if the tree has it.
    private func storedHash(_ range: Range<UInt64>) throws(EventLogError) -> SHA256Digest? {
        let length = range.upperBound - range.lowerBound
        let bits = length.trailingZeroBitCount
        let hashed = hashedTiles * LogStore.tileSize
        guard length >= LogStore.tileSize, bits % 8 == 0, length == 1 << bits, range.upperBound <= hashed else { return nil }
        let key = SubtreeKey(level: UInt8(bits / 8), number: range.lowerBound >> bits)
        return try storing { () throws(StorageError) in
            try tiles.reader.store.treeHash(key, tiles.reader.transaction)
        }
    }

    /// The hash of dropped events below the level of tiles, if it was kept because a checkpoint ends among them.
    private func keptHash(_ range: Range<UInt64>) throws(EventLogError) -> SHA256Digest? {
        let length = range.upperBound - range.lowerBound
        guard range.upperBound <= tiles.reader.cut, length == 1 << length.trailingZeroBitCount else { return nil }
        return try storing { () throws(StorageError) in
            try tiles.reader.store.keptNode(
                level: length.trailingZeroBitCount, place: range.lowerBound, tiles.reader.transaction)
        }
    }

    /// Whether the kept hashes of the dropped tile in which a checkpoint of `size` events ends combine to that tile's hash.
    mutating func isKeptTileTrue(around size: UInt64) throws(EventLogError) -> Bool {
        guard size <= tiles.reader.cut, size % LogStore.tileSize != 0 else { return true }
        let first = size / LogStore.tileSize * LogStore.tileSize
        return try keptTile(first..<first + LogStore.tileSize) == hash(first..<first + LogStore.tileSize)
    }

    private mutating func keptTile(_ range: Range<UInt64>) throws(EventLogError) -> SHA256Digest {
        if let kept = try keptHash(range) { return kept }
        guard range.count > 1 else { return try leafInTile(range.lowerBound) }
        let middle = Self.middle(range)
        let left = try keptTile(range.lowerBound..<middle)
        return tiles.nodeHash(left, try keptTile(middle..<range.upperBound))
    }

    /// The hashes below the level of tiles from which a checkpoint of `size` events, and the tile in which it ends, can be computed after
    /// the tile's events are gone.
    mutating func nodes(around size: UInt64) throws(EventLogError) -> [KeptNode] {
        var nodes: [KeptNode] = []
        var place = size / LogStore.tileSize * LogStore.tileSize
        let end = place + LogStore.tileSize
        var level = 7
        while place < size {  // whole subtrees, as large as they can be, from the left
            if place + 1 << UInt64(level) <= size {
                nodes.append(try node(level, place))
                place += 1 << UInt64(level)
            }
            level -= 1
        }
        while place < end {
            level = place.trailingZeroBitCount
            nodes.append(try node(level, place))
            place += 1 << UInt64(level)
        }
        return nodes
    }

    private mutating func node(_ level: Int, _ place: UInt64) throws(EventLogError) -> KeptNode {
        KeptNode(level: level, place: place, hash: try hash(place..<place + 1 << UInt64(level)))
    }

    private mutating func leafInTile(_ place: UInt64) throws(EventLogError) -> SHA256Digest {
        let number = place / LogStore.tileSize
        if let tile, tile.number == number { return tile.leaves[Int(place % LogStore.tileSize)] }
        let count = min(LogStore.tileSize, head - number * LogStore.tileSize)
        let leaves = try tiles.leaves(ofTile: number, count: Int(count))
        tile = (number, leaves)
        return leaves[Int(place % LogStore.tileSize)]
    }
}

extension EventLog {
    /// The root of the Merkle tree over the first `size` events: 32 bytes that change when any of these events does.
    ///
    /// It trusts the stored hashes of the tree; `verify` recomputes all of them.
    /// - Throws: `.tooFewEvents` if the log has fewer, and errors of the file.
    public func root(size: EventSequence) throws(EventLogError) -> [UInt8] {
        var tree = try TreeReader(beginRead())
        guard size.rawValue <= tree.head else {
            throw EventLogError(.tooFewEvents, path: path, detail: "it ends with event \(tree.head), before event \(size)")
        }
        return try tree.root(size: size.rawValue).bytes
    }
}
