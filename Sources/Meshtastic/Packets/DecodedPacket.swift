public import ProtobufWire

/// One event after decoding: plain data. Its bytes are in the arena of its `PacketBatch`.
public struct DecodedPacket: Sendable, Hashable {
    public var from: UInt32 = 0
    public var to: UInt32 = 0
    public var id: UInt32 = 0
    /// The channel's hash if the packet was encrypted; otherwise the local index of the radio that received it.
    public var channel: UInt32 = 0
    /// When the receiving node heard it by its own clock, seconds since 1970; 0 if not stated.
    public var rxTime: UInt32 = 0
    /// Signal-to-noise ratio, dB.
    public var rxSNR: Float = 0
    /// Signal strength, dBm; see `hasRSSI`.
    public var rxRSSI: Int32 = 0
    public var flags: PacketFlags = []
    /// The gateway of the envelope; 0 if missing, or if its text is not a node number.
    public var gateway: UInt32 = 0

    public var port: UInt32 = 0
    /// Where the content is to go in the end, and where it comes from, if the packet is one of several that carry it; 0 if not stated.
    public var destination: UInt32 = 0
    public var source: UInt32 = 0
    public var requestID: UInt32 = 0
    public var replyID: UInt32 = 0
    public var emoji: UInt32 = 0
    public var bitfield: UInt32 = 0
    /// In the arena: the port's payload, the ciphertext of an opaque packet, or the body of another FromRadio variant.
    public var payload: ByteRange = .empty
    /// In the arena: the envelope's channel name.
    public var channelID: ByteRange = .empty
    /// In the arena: 64 bytes if `hasSignature`.
    public var signature: ByteRange = .empty

    /// Index into the keyring's channels if `opening` is `channelKey`; otherwise `UInt16.max`.
    public var keyIndex: UInt16 = .max
    public var hopLimit: UInt8 = 0
    public var hopStart: UInt8 = 0
    public var priority: UInt8 = 0
    public var relayNode: UInt8 = 0
    public var nextHop: UInt8 = 0
    public var transport: UInt8 = 0
    /// The field number of the FromRadio variant: 2 for a packet. 0 in other forms.
    public var fromRadio: UInt8 = 0
    public var opening: Opening = .none
    public var failure: DecodeFailure?

    public init() {}
}

extension DecodedPacket {
    public var hasPacket: Bool { flags.contains(.hasPacket) }
    public var hasRSSI: Bool { flags.contains(.hasRSSI) }
    public var isReplayedState: Bool { flags.contains(.isReplayedState) }
    public var isBroadcast: Bool { to == NodeID.broadcast }

    /// Whether port and payload are there and well-formed.
    public var isReadable: Bool { opening.isReadable && failure == nil }

    /// The highest hop count that fits in a packet's header on the air.
    public static let mostHops: UInt8 = 7

    /// How many hops it took; nil if the sender is too old to state it, or the numbers contradict each other or are above the maximum.
    public var hopsAway: UInt8? {
        guard hasPacket, hopStart >= hopLimit, hopStart <= Self.mostHops else { return nil }
        if hopStart == 0, !(opening.isReadable && port != 0 && flags.contains(.hasBitfield)) { return nil }
        return hopStart - hopLimit
    }
}
