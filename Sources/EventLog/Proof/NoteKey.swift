internal import Foundation
internal import MeshCrypto
internal import ProtobufWire

/// The signer of a note: a name and an Ed25519 key, written as C2SP signed-note describes it.
public struct NoteVerifier: Sendable, Hashable, CustomStringConvertible {
    /// The number of the signature algorithm.
    static let ed25519: UInt8 = 1

    public let name: String
    /// 32 bytes.
    public let publicKey: [UInt8]

    init(name: String, publicKey: [UInt8]) {
        self.name = name
        self.publicKey = publicKey
    }

    /// - Parameter text: `NAME+HASH+KEY`, as in `description`. Nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "+", maxSplits: 2)
        guard parts.count == 3, !parts[0].contains(where: \.isWhitespace),
            let key = Data(base64Encoded: String(parts[2])), key.count == 33
        else { return nil }
        self.init(name: String(parts[0]), publicKey: Array(key.dropFirst()))
        guard Array(description.utf8) == Array(text.utf8) else { return nil }
    }

    public var description: String {
        "\(name)+\(hexadecimalHash)+\(Data([Self.ed25519] + publicKey).base64EncodedString())"
    }

    /// The first bytes of each signature under this key.
    var keyHash: [UInt8] {
        Array(SHA256.hash(Array(name.utf8) + [0x0a, Self.ed25519] + publicKey).prefix(4))
    }

    private var hexadecimalHash: String { Hexadecimal.text(keyHash) }
}

/// The key with which a ledger signs its checkpoints.
package struct NoteSigner: Sendable {
    let verifier: NoteVerifier
    private let seed: [UInt8]

    /// - Parameter seed: 32 bytes. Nil for another length.
    init?(name: String, seed: [UInt8]) {
        guard let publicKey = try? Ed25519.publicKey(of: seed) else { return nil }  // only for a wrong length
        verifier = NoteVerifier(name: name, publicKey: publicKey)
        self.seed = seed
    }

    /// - Parameter text: lines of UTF-8, each ended with a line feed.
    func sign(_ text: String) throws(EventLogError) -> SignedNote {
        let signature = try signature(of: Array(text.utf8))
        return SignedNote(text: text, signatures: [.init(name: verifier.name, bytes: verifier.keyHash + signature)])
    }

    func signature(of message: [UInt8]) throws(EventLogError) -> [UInt8] {
        do throws(CryptoError) {
            return try Ed25519.sign(message, privateKey: seed)
        } catch {
            throw EventLogError(.storage, path: verifier.name, detail: "signing failed: \(error)")
        }
    }
}
