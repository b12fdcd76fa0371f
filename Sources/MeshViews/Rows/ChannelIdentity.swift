/// A channel as a view names it: by the key that opened the packet, or as its source names it.
public struct ChannelIdentity: Sendable, Hashable, Codable {
    /// The channel's name; empty for a hash that no known key matches.
    public var name: String
    /// Fingerprint of the key; 0 where the key is unknown or the channel has none.
    public var keyFingerprint: UInt64
    /// The hash on the wire, for packets that could not be decrypted. Hashes collide: it identifies nothing.
    public var hash: UInt32?

    public var isReadable: Bool { hash == nil }

    /// For people: the name, or the hash.
    public var title: String { hash.map { Self.title(ofHash: $0) } ?? (name.isEmpty ? "(unnamed)" : name) }

    /// Of packets with this hash that no known key opens.
    package static func title(ofHash hash: UInt32) -> String { "hash \(hash), unreadable" }
}
