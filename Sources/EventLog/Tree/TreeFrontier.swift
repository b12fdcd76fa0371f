internal import LMDB
internal import MeshCrypto

/// The hashes at the right edge of the tree that no stored hash of a higher level covers yet.
struct TreeFrontier: Sendable {
    private(set) var tiles: UInt64
    /// From level 1 up: at most 255 each.
    private var open: [[SHA256Digest]]

    /// The edge of an empty tree.
    init() {
        tiles = 0
        open = SubtreeKey.levels.map { _ in [] }
    }

    /// Reads the edge of the stored tree.
    init(_ reader: borrowing LogReader) throws(StorageError) {
        tiles = try reader.store.hashedTiles(reader.transaction)
        open = []
        var count = tiles
        for level in SubtreeKey.levels {
            var hashes: [SHA256Digest] = []
            for number in count / 256 * 256..<count {
                guard let hash = try reader.store.treeHash(SubtreeKey(level: level, number: number), reader.transaction) else {
                    throw .malformed(SubtreeKey.self)
                }
                hashes.append(hash)
            }
            open.append(hashes)
            count /= 256
        }
    }

    /// Adds the next tile, and the subtrees that it completes.
    mutating func add(_ hash: SHA256Digest, to rows: inout [TreeWork.Row]) {
        var (hash, number) = (hash, tiles)
        tiles += 1
        var hasher = MerkleHasher()
        for level in SubtreeKey.levels {
            let place = Int(level - SubtreeKey.levels.lowerBound)
            rows.append(TreeWork.Row(key: SubtreeKey(level: level, number: number), hash: hash))
            open[place].append(hash)
            guard open[place].count == 256 else { return }
            hash = hasher.root(open[place])
            open[place] = []
            number /= 256
        }
    }
}
