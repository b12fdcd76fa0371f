import MeshCrypto
import ProtobufWire

/// Everything besides the log that determines a view's content. A view built by another recipe than the current one is stale.
package struct Recipe: Sendable, Equatable, Codable {
    package var view: String
    package var version: UInt32
    package var policy: String
    /// Fingerprint of the decoding stage's input: the channel keys.
    package var keyring: String

    package init(view: String, version: UInt32, policy: String, keyring: String) {
        self.view = view
        self.version = version
        self.policy = policy
        self.keyring = keyring
    }

    /// The name of the recipe's folder: its version in clear, then 16 hexadecimal digits of a hash of everything.
    package var identifier: String {
        let text = "\(view)\u{0}\(version)\u{0}\(policy)\u{0}\(keyring)"
        return "v\(version)-" + Hexadecimal.text(SHA256.hash(Array(text.utf8)).prefix(8))
    }
}

/// How far a view has folded: the last event, and its record's checksum. By the checksum, a view that has folded events which the log does
/// not contain is recognised and rebuilt.
package struct Checkpoint: Sendable, Equatable {
    package var sequence: UInt64
    package var checksum: UInt64

    package static let start = Checkpoint(sequence: 0, checksum: 0)

    package init(sequence: UInt64, checksum: UInt64) {
        self.sequence = sequence
        self.checksum = checksum
    }
}
