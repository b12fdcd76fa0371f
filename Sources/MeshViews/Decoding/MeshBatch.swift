public import EventLog
public import Meshtastic
public import Projections

/// A run of events after decoding: the packets with their payloads, and beside each what the log knows of its event.
public struct MeshBatch: FoldBatch {
    /// What the log and the sequential stage know about the event of the same index in `packets.packets`.
    public struct Stamp: Sendable {
        public var sequence: UInt64
        /// Seconds since 1970.
        public var arrival: UInt32
        /// When it was received, or nil where nobody recorded it.
        public var reception: UInt32?
        public var source: SourceID
        public var isLive: Bool
        public var isMeshtastic: Bool
        /// The JSON form of MQTT names its channel only in the topic, which is the end of its source's name.
        public var isJSON: Bool
        /// The first event of the packet that this is a reception of.
        public var firstSequence: UInt64
        public var isFirstReception: Bool
        public var isFirstReadable: Bool
        /// Index into the batch's `channels`.
        public var channel: Int32
    }

    public var events: ClosedRange<EventSequence>
    public var lastChecksum: UInt64 = 0
    public var carry = Carry()
    public var packets = PacketBatch()
    public var stamps: [Stamp] = []
    /// What people decided, in the order of the log.
    var annotations: [AnnotationEvent] = []
    /// The channels that the stamps point to.
    public var channels: [ChannelIdentity] = []
    /// The announced keys of the senders of signed messages, by index.
    var signers: [Int: [UInt8]] = [:]
    /// Where the events are that few views look at.
    var places = PortPlaces()
}

extension MeshBatch.Stamp {
    /// When it was received, else when it arrived.
    var headerTime: UInt32 { reception ?? arrival }

    func policy(for packet: DecodedPacket) -> TimePolicy {
        TimePolicy(
            reception: reception, isLive: isLive, arrival: arrival,
            isReplayedState: packet.flags.contains(.isReplayedState))
    }
}

extension DecodedPacket {
    /// Its content is there, whatever may be wrong with the payload.
    var isOpen: Bool { opening.isReadable && failure?.kind != .malformedData }
}

/// Which member of `FromRadio` an event holds, by field number.
enum FromRadioVariant {
    static let myInfo: UInt8 = 3
    static let nodeInfo: UInt8 = 4
    static let config: UInt8 = 5
    static let moduleConfig: UInt8 = 9
    static let channel: UInt8 = 10
    static let metadata: UInt8 = 13
    static let deviceUI: UInt8 = 17
    static let regionPresets: UInt8 = 19
}
