import MeshCrypto
import ProtobufWire

/// Everything besides the log that determines a view's content. A view built by another recipe than the current one is stale.
public struct Recipe: Sendable, Equatable, Codable {
    public var view: String
    public var version: UInt32
    public var policy: String
    /// Fingerprint of the decoding stage's input: the channel keys.
    public var keyring: String

    public init(view: String, version: UInt32, policy: String, keyring: String) {
        self.view = view
        self.version = version
        self.policy = policy
        self.keyring = keyring
    }

    /// The name of the recipe's folder: its version in clear, then 16 hexadecimal digits of a hash of everything.
    public var identifier: String {
        let text = "\(view)\u{0}\(version)\u{0}\(policy)\u{0}\(keyring)"
        return "v\(version)-" + Hexadecimal.text(SHA256.hash(Array(text.utf8)).prefix(8))
    }
}

/// How far a view has folded: the last event, and its record's checksum. By the checksum, a view that has folded events which the log does
/// not contain is recognised and rebuilt.
public struct Checkpoint: Sendable, Equatable {
    public var sequence: UInt64
    public var checksum: UInt64

    public static let start = Checkpoint(sequence: 0, checksum: 0)

    public init(sequence: UInt64, checksum: UInt64) {
        self.sequence = sequence
        self.checksum = checksum
    }
}
