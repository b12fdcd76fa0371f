internal import MeshCrypto

/// The path from a leaf to the root of a tree (RFC 9162, section 2.1.3.2).
struct InclusionPath {
    let place: UInt64
    let size: UInt64
    /// Nearest to the leaf first.
    let hashes: [SHA256Digest]

    /// The root that follows if the leaf is in this place; nil if the path has the wrong length.
    func root(leaf: SHA256Digest) -> SHA256Digest? {
        guard place < size else { return nil }
        var hasher = MerkleHasher()
        var (node, last) = (place, size - 1)
        var result = leaf
        for hash in hashes {
            guard last != 0 else { return nil }
            if node & 1 == 1 || node == last {
                result = hasher.nodeHash(hash, result)
                while node & 1 == 0 && node != 0 {
                    node >>= 1
                    last >>= 1
                }
            } else {
                result = hasher.nodeHash(result, hash)
            }
            node >>= 1
            last >>= 1
        }
        return last == 0 ? result : nil
    }
}
