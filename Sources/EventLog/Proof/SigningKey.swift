internal import Foundation
internal import Glibc

/// The file of the key that signs a ledger's checkpoints.
enum SigningKey {
    /// Creates the key of a new ledger from 32 random bytes.
    static func create(at path: String, seed: [UInt8]) throws(EventLogError) {
        try SmallFile.replace(path, with: Data(seed).base64EncodedString() + "\n")
    }

    static func signer(at path: String, name: String) throws(EventLogError) -> NoteSigner {
        let text: String
        do throws(EventLogError) {
            text = try SmallFile.read(path).trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            guard error.code == .missing else { throw error }
            throw EventLogError(.corrupt, path: path, detail: "it is missing")
        }
        guard let seed = Data(base64Encoded: text), let signer = NoteSigner(name: name, seed: Array(seed)) else {
            throw EventLogError(.corrupt, path: path, detail: "it is not an Ed25519 key of 32 bytes in base64")
        }
        return signer
    }
}
