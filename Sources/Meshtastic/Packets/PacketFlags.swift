/// The yes-or-no facts of a packet.
public struct PacketFlags: OptionSet, Sendable, Hashable {
    public var rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The event contains a packet.
    @inlinable public static var hasPacket: PacketFlags { PacketFlags(rawValue: 1 << 0) }
    @inlinable public static var wantAck: PacketFlags { PacketFlags(rawValue: 1 << 1) }
    @inlinable public static var viaMQTT: PacketFlags { PacketFlags(rawValue: 1 << 2) }
    /// The receiving node states that it decrypted a direct message. Untrusted.
    @inlinable public static var pkiEncrypted: PacketFlags { PacketFlags(rawValue: 1 << 3) }
    @inlinable public static var wantResponse: PacketFlags { PacketFlags(rawValue: 1 << 4) }
    /// A 2.8 node replayed stored state to its client: not a reception. Recognised by its recomputed id.
    @inlinable public static var isReplayedState: PacketFlags { PacketFlags(rawValue: 1 << 5) }
    @inlinable public static var hasBitfield: PacketFlags { PacketFlags(rawValue: 1 << 6) }
    /// `signature` has 64 bytes.
    @inlinable public static var hasSignature: PacketFlags { PacketFlags(rawValue: 1 << 7) }
    /// The signal strength was present, even if 0.
    @inlinable public static var hasRSSI: PacketFlags { PacketFlags(rawValue: 1 << 8) }
    /// The signal-to-noise ratio was present and is not 0.
    @inlinable public static var hasSNR: PacketFlags { PacketFlags(rawValue: 1 << 9) }
    /// The packet was not encrypted: it came in the field `decoded`.
    @inlinable public static var cameDecoded: PacketFlags { PacketFlags(rawValue: 1 << 10) }
    /// Opened by a known key, but under a channel name that the keyring does not have: the name's hash differs.
    @inlinable public static var isUnknownChannelName: PacketFlags { PacketFlags(rawValue: 1 << 11) }
    /// The receiving node states that it verified the signature. Untrusted.
    @inlinable public static var signatureVerifiedByNode: PacketFlags { PacketFlags(rawValue: 1 << 12) }
    /// A key of the packet's own hash opened it, and official decoders accept it, but no encoder writes this form: some of it was altered in transit.
    @inlinable public static var isDamaged: PacketFlags { PacketFlags(rawValue: 1 << 14) }
    /// It came encrypted, but without any bytes.
    @inlinable public static var hasEmptyCiphertext: PacketFlags { PacketFlags(rawValue: 1 << 15) }
    /// `hopStart` was present and is not 0.
    @inlinable public static var hasHopStart: PacketFlags { PacketFlags(rawValue: 1 << 13) }
}
