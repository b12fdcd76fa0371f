package import MeshCrypto

/// The hash functions of the tree, as `FORMAT.md` defines them (RFC 6962, section 2.1).
package struct MerkleHasher {
    private var context = SHA256Context()

    package init() {}

    /// The root of a tree without events.
    static var emptyRoot: SHA256Digest {
        var context = SHA256Context()
        return context.finish()
    }

    mutating func innerHash(salt: RawSpan, payload: RawSpan) -> SHA256Digest {
        context.hash(salt, payload)
    }

    mutating func leafHash(_ leafData: RawSpan) -> SHA256Digest {
        context.update(0)
        context.update(leafData)
        return context.finish()
    }

    mutating func nodeHash(_ left: SHA256Digest, _ right: SHA256Digest) -> SHA256Digest {
        let (left, right) = (left.words, right.words)
        return context.hash(1, [left[0], left[1], left[2], left[3], right[0], right[1], right[2], right[3]])
    }

    /// The hash of the leaf for a record of at least the header's size.
    package mutating func leafHash(ofRecord record: RawSpan, sequence: UInt64, salt: RawSpan) -> SHA256Digest {
        let inner = innerHash(ofRecord: record, salt: salt).words
        let header = Record.immutableHeader(record)
        return context.hash(
            0, [sequence.bigEndian, header[0], header[1], header[2], inner[0], inner[1], inner[2], inner[3]])
    }

    /// Sequence, header and inner hash: the input of the leaf's hash.
    package mutating func leafData(ofRecord record: RawSpan, sequence: UInt64, salt: RawSpan) -> [UInt8] {
        let inner = innerHash(ofRecord: record, salt: salt)
        let number = SequenceKey(sequence)
        let header = Record.immutableHeader(record)
        return unsafe Self.array(number.span) + Self.array(header.span.bytes) + Self.array(inner.span)
    }

    private mutating func innerHash(ofRecord record: RawSpan, salt: RawSpan) -> SHA256Digest {
        let body = record.extracting(droppingFirst: RecordHeader.size)
        let erased = Record.isErased(record) ? SHA256Digest(body) : nil
        return erased ?? innerHash(salt: salt, payload: body)
    }

    private static func array(_ span: RawSpan) -> [UInt8] { unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }

    /// The root over some hashes of subtrees of equal size.
    package mutating func root(_ hashes: [SHA256Digest]) -> SHA256Digest {
        guard !hashes.isEmpty else { return Self.emptyRoot }
        var level = hashes
        var count = level.count
        // An odd last one is promoted alone, which gives the split at the largest power of two that the RFC requires.
        while count > 1 {
            for pair in 0..<count / 2 { level[pair] = nodeHash(level[2 * pair], level[2 * pair + 1]) }
            if count % 2 == 1 { level[count / 2] = level[count - 1] }
            count = (count + 1) / 2
        }
        return level[0]
    }
}
