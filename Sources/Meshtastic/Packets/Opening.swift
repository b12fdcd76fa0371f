/// How a packet was opened, or why it is not readable.
public enum Opening: UInt8, Sendable, CaseIterable {
    /// The event contains no packet, like most FromRadio frames.
    case none = 0
    /// The packet was not encrypted.
    case decoded = 1
    /// A channel key opened it: `keyIndex`.
    case channelKey = 2
    /// It was marked as encrypted, but its bytes were not: a channel without a key.
    case plaintext = 3
    /// A private key opened a direct message.
    case privateKey = 4
    /// No known key opens it. The payload is the ciphertext.
    case opaque = 5
    /// A packet without any content.
    case empty = 6
    /// The bytes are broken: see `failure`.
    case invalid = 7
    /// A known channel with authenticated encryption has the packet's hash, but the packet's tag does not match its key: it was altered or forged, or
    /// comes from another channel with the same hash. The payload is the ciphertext.
    case badTag = 8

    /// Whether port and payload are known.
    public var isReadable: Bool {
        switch self {
        case .decoded, .channelKey, .plaintext, .privateKey: true
        case .none, .opaque, .empty, .invalid, .badTag: false
        }
    }
}
