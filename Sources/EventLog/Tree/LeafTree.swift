package import MeshCrypto

/// The tree over consecutive leaves, of which only the right edge is kept.
package struct LeafTree {
    private var hasher = MerkleHasher()
    /// Full subtrees, the largest first.
    private var edge: [SHA256Digest] = []
    package private(set) var count: UInt64 = 0

    package init() {}

    package mutating func add(_ leaf: SHA256Digest) { add(leaf, leaves: 1) }

    /// Adds the hash of the next 256 leaves; the number of earlier ones must be a multiple of 256.
    package mutating func add(tile: SHA256Digest) { add(tile, leaves: LogStore.tileSize) }

    private mutating func add(_ hash: SHA256Digest, leaves: UInt64) {
        edge.append(hash)
        count += leaves
        for _ in 0..<(count / leaves).trailingZeroBitCount {
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
