internal import Foundation
internal import MeshCrypto

/// A channel that can be decrypted: its name and its key.
public struct ChannelKey: Sendable, Hashable {
    public let name: String
    /// The key as people share it: 0, 1, 16 or 32 bytes, or any number up to 32.
    public let psk: [UInt8]
    /// The key of the cipher: 0 (no encryption), 16 or 32 bytes.
    public let key: [UInt8]
    /// Whether its packets carry a tag that proves the key (authenticated encryption, `use_aead` of firmware 2.8.1). False without a key.
    public let isAEAD: Bool
    /// The hint at the channel in packets: the XOR of all bytes of name and key, and of 0xAE with authenticated encryption. Other channels can have
    /// the same one.
    public let hash: UInt8
    /// Identifies keys without revealing them: the first eight bytes of a SHA-256, big-endian; 0 without a key.
    public let fingerprint: UInt64

    /// The factory default key of every device.
    public static let defaultKey: [UInt8] = [
        0xd4, 0xf1, 0xbb, 0x3a, 0x20, 0x29, 0x07, 0x59, 0xf0, 0xbc, 0xff, 0xab, 0xcf, 0x4e, 0x69, 0x01,
    ]

    /// - Parameters:
    ///   - name: the channel's name; for a channel without one, the display name of its modem preset.
    ///   - psk: at most 32 bytes.
    ///   - isAEAD: whether the channel has authenticated encryption.
    /// - Throws: `KeyError.wrongLength` for a longer one.
    public init(name: String, psk: [UInt8], isAEAD: Bool = false) throws(KeyError) {
        guard psk.count <= 32 else { throw .wrongLength(psk.count) }
        self.init(name: name, checked: psk, isAEAD: isAEAD)
    }

    /// - Parameter base64: the key as apps show it, such as `AQ==`.
    /// - Throws: `KeyError` if the text is not base64 of a possible key.
    public init(name: String, base64: String, isAEAD: Bool = false) throws(KeyError) {
        guard let psk = Data(base64Encoded: base64) else { throw .notBase64 }
        try self.init(name: name, psk: Array(psk), isAEAD: isAEAD)
    }

    /// - Parameter psk: at most 32 bytes, which the caller guarantees.
    init(name: String, checked psk: [UInt8], isAEAD: Bool = false) {
        self.name = name
        self.psk = psk
        key = Self.expanded(psk)
        self.isAEAD = isAEAD && !key.isEmpty
        hash = Self.hash(name: name, key: key, isAEAD: self.isAEAD)
        fingerprint = Self.fingerprint(of: key)
    }

    /// The key that firmware derives from a shared key.
    static func expanded(_ psk: [UInt8]) -> [UInt8] {
        switch psk.count {
        case 0: []
        case 1:
            psk[0] == 0 ? [] : defaultKey.dropLast() + [0x01 &+ psk[0] &- 1]
        case ...16: psk + [UInt8](repeating: 0, count: 16 - psk.count)
        default: psk + [UInt8](repeating: 0, count: max(32 - psk.count, 0))
        }
    }

    /// The hash of any name under any expanded key.
    public static func hash(name: String, key: [UInt8], isAEAD: Bool = false) -> UInt8 {
        name.utf8.reduce(0, ^) ^ key.reduce(0, ^) ^ (isAEAD ? 0xae : 0)
    }

    static func fingerprint(of key: [UInt8]) -> UInt64 {
        guard !key.isEmpty else { return 0 }
        return SHA256.hash(Array("meshledger channel key".utf8) + key).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The reason why something is not a key.
public enum KeyError: Error, Sendable, Equatable, CustomStringConvertible {
    case wrongLength(Int)
    case notBase64
    case notANode(String)

    public var description: String {
        switch self {
        case .wrongLength(let count): "a channel key has at most 32 bytes and a private key exactly 32, not \(count)"
        case .notBase64: "the key is not base64, such as AQ=="
        case .notANode(let text): "\(text) is not a node number, such as !1c5b4a01"
        }
    }
}
