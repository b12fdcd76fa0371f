package import MeshCrypto

/// The tree over consecutive leaves, of which only the right edge is kept.
package struct LeafTree {
    private var hasher = MerkleHasher()
    /// Full subtrees, the largest first.
    private var edge: [SHA256Digest] = []
    package private(set) var count: UInt64 = 0

    package init() {}

    package mutating func add(_ leaf: SHA256Digest) {
        edge.append(leaf)
        count += 1
        for _ in 0..<count.trailingZeroBitCount {
            let right = edge.removeLast()
            edge.append(hasher.nodeHash(edge.removeLast(), right))
        }
    }

    /// Adds the hash of the next 256 leaves; the number of earlier ones must be a multiple of 256.
    package mutating func add(tile: SHA256Digest) {
        edge.append(tile)
        count += LogStore.tileSize
        for _ in 0..<max(count.trailingZeroBitCount - LogStore.tileSize.trailingZeroBitCount, 0) {
            let right = edge.removeLast()
            edge.append(hasher.nodeHash(edge.removeLast(), right))
        }
    }

    /// The root over the leaves so far (RFC 6962, section 2.1).
    package func root() -> SHA256Digest {
        guard var root = edge.last else { return MerkleHasher.emptyRoot }
        var hasher = hasher
        for left in edge.dropLast().reversed() { root = hasher.nodeHash(left, root) }
        return root
    }
}
