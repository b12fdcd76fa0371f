public import EventLog
public import Meshtastic
public import Projections
import ProtobufWire

/// A run of decoded events: the packets with their payloads, and for each what the log knows about its event.
public struct MeshBatch: FoldBatch {
    /// What the log and the sequential stage know about the event of the same index in `packets.packets`.
    public struct Stamp: Sendable {
        public var sequence: UInt64
        /// Seconds since 1970.
        public var arrival: UInt32
        /// When it was received, or nil if that was not recorded.
        public var reception: UInt32?
        public var source: SourceID
        public var isLive: Bool
        public var isMeshtastic: Bool
        /// The JSON form of MQTT names its channel only in the topic, which is the end of its source's name.
        public var isJSON: Bool
        /// The first event of the packet.
        public var firstSequence: UInt64
        public var isFirstReception: Bool
        public var isFirstReadable: Bool
        /// The same reception was stored before: this is another event, but not another reception.
        public var isRepeat = false
        /// No earlier event belongs to this packet and this gateway.
        public var isFirstOfGateway = true
        /// This reception is earlier than the one behind the row, so it replaces the row.
        public var supersedes = false
        /// An earlier reception of the packet was readable.
        public var wasReadable = false
        /// Another packet has the same sender and id within the hour, but different content.
        public var hasTwin = false
        /// How many packets of the same sender whose ids have the same 24 bits in the index began later than this one.
        /// Of a first reception: later than the packet that it is in conflict with.
        public var laterTwins: UInt8 = 0
        /// When the packet was heard; 0 if unknown. It decides which values are the first or the latest.
        public var heard: UInt32 = 0
        /// The time of the row that the event makes, and the clock that it came from.
        public var time: UInt32 = 0
        public var timeSource = TimeSource.arrival
        /// Index into the batch's `channels`.
        public var channel: Int32
    }

    public var events: ClosedRange<EventSequence>
    public var lastChecksum: UInt64 = 0
    package var stageState = StageState()
    public var packets = PacketBatch()
    public var stamps: [Stamp] = []
    /// People's decisions, in the order of the log.
    var annotations: [AnnotationEvent] = []
    /// The channels that the stamps point to.
    public var channels: [ChannelIdentity] = []
    /// What distinguishes each packet from others of the same sender and id.
    var prints: [PacketPrint] = []
    /// The existing rows that earlier receptions among these events replace.
    var superseded: [Int: SupersededRow] = [:]
    /// For the first receptions of packets, the first events of other packets with the same sender and id.
    var twins: [Int: UInt64] = [:]
    /// For texts that could not be read at first: their receptions up to this event, the oldest first.
    var hearings: [Int: [(gateway: UInt32, time: UInt32)]] = [:]
    /// The announced keys of the senders of signed messages, by index.
    var signers: [Int: [UInt8]] = [:]
    /// The positions of the events that only few views use.
    var places = PortPlaces()
}

extension MeshBatch.Stamp {
    /// When it was received; otherwise when it arrived.
    var headerTime: UInt32 { reception ?? arrival }

    /// When it was heard according to the log and the receiver's clock; otherwise when it arrived: `EventHeader.heard(rxTime:)` in seconds.
    @inline(__always)
    func heardOrArrival(_ packet: DecodedPacket) -> UInt32 {
        reception ?? (TimePolicy.isPlausible(packet.rxTime, arrival: arrival) ? packet.rxTime : arrival)
    }

    func policy(for packet: DecodedPacket) -> TimePolicy {
        TimePolicy(
            reception: reception, isLive: isLive, arrival: arrival, received: packet.rxTime,
            isReplayedState: packet.flags.contains(.isReplayedState))
    }

    /// Determines those times of the event that do not depend on earlier events.
    @inline(__always)
    mutating func takeTimes(of packet: DecodedPacket, _ payload: RawSpan) {
        let policy = policy(for: packet)
        let stamps = packet.isOpen ? SenderStamps(port: packet.port, payload) : SenderStamps(port: 0, payload)
        (time, timeSource) = policy.time(fix: stamps.fix, sent: stamps.sent, received: packet.rxTime)
        heard = policy.heard(received: packet.rxTime)
    }

    /// The time of its row, as it is compared with others.
    var rowTime: RowTime { RowTime(time, timeSource) }

    /// Whether a view with one row per packet has a row of this event.
    @inline(__always)
    var makesRow: Bool { isFirstReadable || supersedes }

    /// Whether it counts as a reception: it is neither a repetition nor a node's replayed state.
    func counts(_ packet: DecodedPacket) -> Bool { !isRepeat && !packet.isReplayedState }
}

extension MeshBatch {
    /// What the receptions of a packet have in common: sender and id, or without an id the sender and a hash of what it has written.
    @inline(__always)
    func identity(of packet: DecodedPacket, at index: Int) -> UInt64 {
        packet.id != 0 ? SeenPackets.key(packet.from, packet.id) : packets.identity(at: index)
    }
}

extension DecodedPacket {
    /// Its content is available, whatever may be wrong with the payload.
    var isOpen: Bool { opening.isReadable && failure?.kind != .malformedData }

    /// Its channel is an index of the radio that sent or received it.
    var needsRadio: Bool { opening == .decoded && channelID.isEmpty && flags.contains(.hasPacket) }
}

/// The member of `FromRadio` in an event, by field number.
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
