internal import Foundation
internal import MeshCrypto

/// Proves to a verifier without a ledger that an event is in the log of a checkpoint (C2SP tlog-proof).
public struct InclusionProof: Sendable, CustomStringConvertible {
    static let firstLine = "c2sp.org/tlog-proof@v1"
    static let leafDataSize = 64

    /// The sequence less 1.
    let place: UInt64
    /// Sequence, header and inner hash: the input of the leaf's hash.
    let leafData: [UInt8]
    /// Nil if the event is erased.
    let salt: [UInt8]?
    let payload: [UInt8]
    let hashes: [SHA256Digest]
    public let note: SignedNote

    public var description: String {
        let extra = Data(leafData + (salt ?? []) + payload).base64EncodedString()
        let path = hashes.map { Data($0.bytes).base64EncodedString() + "\n" }.joined()
        return "\(Self.firstLine)\nextra \(extra)\nindex \(place)\n\(path)\n\(note)"
    }

    init(place: UInt64, leafData: [UInt8], salt: [UInt8]?, payload: [UInt8], hashes: [SHA256Digest], note: SignedNote) {
        self.place = place
        self.leafData = leafData
        self.salt = salt
        self.payload = payload
        self.hashes = hashes
        self.note = note
    }

    /// Parses the text of `description`. Nil for anything else, including other spellings of the same proof.
    public init?(_ text: String) {
        guard let end = text.range(of: "\n\n"), let note = SignedNote(String(text[end.upperBound...])) else { return nil }
        let lines = text[..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines[0] == Self.firstLine, lines[1].hasPrefix("extra "), lines[2].hasPrefix("index "),
            let place = UInt64(lines[2].dropFirst(6)),
            let extra = Data(base64Encoded: String(lines[1].dropFirst(6))).map({ Array($0) }),
            extra.count >= Self.leafDataSize, lines.count <= 3 + 64
        else { return nil }
        var hashes: [SHA256Digest] = []
        for line in lines.dropFirst(3) {
            guard let bytes = Data(base64Encoded: String(line)), let hash = SHA256Digest(Array(bytes).span.rawBytes) else {
                return nil
            }
            hashes.append(hash)
        }
        let rest = extra.dropFirst(Self.leafDataSize)
        guard rest.isEmpty || rest.count >= TileSalts.saltSize else { return nil }
        self.init(
            place: place, leafData: Array(extra.prefix(Self.leafDataSize)),
            salt: rest.isEmpty ? nil : Array(rest.prefix(TileSalts.saltSize)), payload: Array(rest.dropFirst(TileSalts.saltSize)),
            hashes: hashes, note: note)
        guard Array(description.utf8) == Array(text.utf8) else { return nil }
    }

    /// What a valid proof shows.
    public struct Statement: Sendable {
        public let sequence: EventSequence
        public let arrivalTime: Timestamp
        public let encoding: PayloadEncoding
        /// Nil if the payload was erased.
        public let payload: [UInt8]?
        public let checkpoint: LogCheckpoint
    }

    /// Why a proof is invalid.
    public enum Flaw: Error, Sendable, Hashable {
        /// The note is not signed by the key.
        case signature
        /// The note is not a checkpoint of a ledger.
        case checkpoint
        /// The leaf belongs to another event than the proof names, or the payload is not the stored one.
        case event
        /// The hashes do not lead from the event to the root.
        case path
    }

    /// Checks everything: signature, path, leaf, payload.
    /// - Throws: the flaw, if the proof does not hold.
    public func check(_ verifier: NoteVerifier) throws(Flaw) -> Statement {
        guard note.isSigned(by: verifier) else { throw .signature }
        guard let checkpoint = LogCheckpoint(note) else { throw .checkpoint }
        var hasher = MerkleHasher()
        let leaf = leafData.span.rawBytes
        guard SequenceKey.sequence(leaf.extracting(first: 8)) == place &+ 1 else { throw .event }
        if let salt {
            let inner = hasher.innerHash(salt: salt.span.rawBytes, payload: payload.span.rawBytes)
            guard inner.bytes == Array(leafData.suffix(SHA256Digest.size)) else { throw .event }
        }
        let path = InclusionPath(place: place, size: checkpoint.size, hashes: hashes)
        guard path.root(leaf: hasher.leafHash(leaf))?.bytes == checkpoint.root else { throw .path }
        let header = Record.header(ofLeafData: leaf)
        return Statement(
            sequence: header.sequence, arrivalTime: header.arrivalTime, encoding: header.encoding,
            payload: salt == nil ? nil : payload, checkpoint: checkpoint)
    }
}
