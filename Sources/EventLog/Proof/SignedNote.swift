internal import Foundation
internal import MeshCrypto

/// A text with signatures, as C2SP signed-note describes it.
public struct SignedNote: Sendable, Hashable, CustomStringConvertible {
    public struct Signature: Sendable, Hashable {
        public let name: String
        /// Four bytes that identify the key, then the signature.
        public let bytes: [UInt8]
    }

    /// Lines, each ended with a line feed.
    public let text: String
    public let signatures: [Signature]

    init(text: String, signatures: [Signature]) {
        self.text = text
        self.signatures = signatures
    }

    /// Parses the text of a note's `description`. Nil for anything else, including other spellings of the same note: other line ends, spaces,
    /// non-canonical base64.
    public init?(_ note: String) {
        guard let end = note.range(of: "\n\n", options: .backwards)?.lowerBound else { return nil }
        text = String(note[..<end]) + "\n"
        var signatures: [Signature] = []
        for line in note[end...].split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 3, let bytes = Data(base64Encoded: String(parts[2])), bytes.count > 4 else {
                return nil
            }
            signatures.append(Signature(name: String(parts[1]), bytes: Array(bytes)))
        }
        guard !signatures.isEmpty else { return nil }
        self.signatures = signatures
        guard Array(description.utf8) == Array(note.utf8),
            note.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f || $0 == "\n" })
        else { return nil }
    }

    public var description: String {
        text + "\n" + signatures.map { "— \($0.name) \(Data($0.bytes).base64EncodedString())\n" }.joined()
    }

    /// Whether one of the signatures is a valid one by this key.
    public func isSigned(by verifier: NoteVerifier) -> Bool {
        signatures.contains { signature in
            signature.name == verifier.name && Array(signature.bytes.prefix(4)) == verifier.keyHash
                && Ed25519.isValid(
                    signature: Array(signature.bytes.dropFirst(4)), of: Array(text.utf8), publicKey: verifier.publicKey)
        }
    }
}
