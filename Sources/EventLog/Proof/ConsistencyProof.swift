internal import Foundation
internal import MeshCrypto

/// Proves to a holder of two checkpoints, without the ledger, that the newer one's log begins with the older one's events.
public struct ConsistencyProof: Sendable, CustomStringConvertible {
    static let firstLine = "meshledger/consistency-proof@v1"

    public let old: SignedNote
    public let new: SignedNote
    /// In the order of RFC 6962, section 2.1.2.
    let hashes: [SHA256Digest]

    init(old: SignedNote, new: SignedNote, hashes: [SHA256Digest]) {
        (self.old, self.new, self.hashes) = (old, new, hashes)
    }

    public var description: String {
        let path = hashes.map { Data($0.bytes).base64EncodedString() + "\n" }.joined()
        return "\(Self.firstLine)\n\(path)\n\(old)\n\(new)"
    }

    /// Whether a text is meant to be such a proof.
    public static func isMeant(by text: String) -> Bool { text.hasPrefix(firstLine) }

    /// Parses the text of `description`. Nil for anything else, including other spellings of the same proof.
    public init?(_ text: String) {
        let parts = text.components(separatedBy: "\n\n")
        guard parts.count == 5, let old = SignedNote("\(parts[1])\n\n\(parts[2])\n"),
            let new = SignedNote("\(parts[3])\n\n\(parts[4])")
        else { return nil }
        let lines = parts[0].split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first == Self.firstLine[...], lines.count <= 1 + 128 else { return nil }
        var hashes: [SHA256Digest] = []
        for line in lines.dropFirst() {
            guard let bytes = Data(base64Encoded: String(line)), let hash = SHA256Digest(Array(bytes).span.rawBytes) else {
                return nil
            }
            hashes.append(hash)
        }
        self.init(old: old, new: new, hashes: hashes)
        guard Array(description.utf8) == Array(text.utf8) else { return nil }
    }

    /// Why a proof is invalid.
    public enum Flaw: Error, Sendable, Hashable {
        /// A note is not signed by the key.
        case signature
        /// A note is not a checkpoint of a ledger, or the notes are of different ledgers.
        case checkpoint
        /// The hashes do not connect the two roots.
        case path
    }

    /// Checks both signatures, and that the newer tree begins with the older one.
    /// - Throws: the flaw, if the proof does not hold.
    public func check(_ verifier: NoteVerifier) throws(Flaw) -> (old: LogCheckpoint, new: LogCheckpoint) {
        guard old.isSigned(by: verifier), new.isSigned(by: verifier) else { throw .signature }
        guard let from = LogCheckpoint(old), let to = LogCheckpoint(new), from.origin == to.origin else { throw .checkpoint }
        guard isConsistent(from, to) else { throw .path }
        return (from, to)
    }

    /// RFC 9162, section 2.1.4.2.
    private func isConsistent(_ old: LogCheckpoint, _ new: LogCheckpoint) -> Bool {
        guard old.size > 0 else { return hashes.isEmpty && old.root == MerkleHasher.emptyRoot.bytes }
        guard old.size < new.size else { return old.size == new.size && hashes.isEmpty && old.root == new.root }
        var hasher = MerkleHasher()
        var path = hashes[...]
        var (node, last) = (old.size - 1, new.size - 1)
        while node & 1 == 1 { (node, last) = (node >> 1, last >> 1) }
        var first: SHA256Digest
        if old.size & (old.size - 1) == 0 {
            guard let root = SHA256Digest(old.root.span.rawBytes) else { return false }
            first = root
        } else {
            guard let hash = path.popFirst() else { return false }
            first = hash
        }
        var second = first
        for hash in path {
            guard last != 0 else { return false }
            if node & 1 == 1 || node == last {
                (first, second) = (hasher.nodeHash(hash, first), hasher.nodeHash(hash, second))
                while node & 1 == 0 && node != 0 { (node, last) = (node >> 1, last >> 1) }
            } else {
                second = hasher.nodeHash(second, hash)
            }
            (node, last) = (node >> 1, last >> 1)
        }
        return last == 0 && first.bytes == old.root && second.bytes == new.root
    }
}
