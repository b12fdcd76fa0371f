/// The yes-or-no facts of a packet.
public struct PacketFlags: OptionSet, Sendable, Hashable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The event holds a packet.
    public static let hasPacket = PacketFlags(rawValue: 1 << 0)
    public static let wantAck = PacketFlags(rawValue: 1 << 1)
    public static let viaMQTT = PacketFlags(rawValue: 1 << 2)
    /// The receiving node says that it opened a direct message. Untrusted.
    public static let pkiEncrypted = PacketFlags(rawValue: 1 << 3)
    public static let wantResponse = PacketFlags(rawValue: 1 << 4)
    /// A 2.8 node told its client what it remembers: state, not a reception. Recognised by its recomputed id.
    public static let isReplayedState = PacketFlags(rawValue: 1 << 5)
    public static let hasBitfield = PacketFlags(rawValue: 1 << 6)
    /// `signature` holds 64 bytes.
    public static let hasSignature = PacketFlags(rawValue: 1 << 7)
    /// The signal strength was there, even if 0.
    public static let hasRSSI = PacketFlags(rawValue: 1 << 8)
    /// The signal-to-noise ratio was there and is not 0.
    public static let hasSNR = PacketFlags(rawValue: 1 << 9)
    /// The packet came in clear, in the field `decoded`.
    public static let cameDecoded = PacketFlags(rawValue: 1 << 10)
    /// Opened by a known key, but under a channel name that the keyring does not have: the name's hash is another.
    public static let isUnknownChannelName = PacketFlags(rawValue: 1 << 11)
    /// The receiving node says that it verified the signature. Untrusted.
    public static let signatureVerifiedByNode = PacketFlags(rawValue: 1 << 12)
    /// `hopStart` was there and is not 0.
    public static let hasHopStart = PacketFlags(rawValue: 1 << 13)
}
