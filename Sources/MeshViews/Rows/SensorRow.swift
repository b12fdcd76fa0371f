public import Meshtastic
import Projections
import ProtobufWire
public import ViewQuery

/// Which kind of sensor or counter sent something.
public enum SensorKind: UInt8, Sendable, CaseIterable, Codable {
    /// A text from a contact or a motion sensor: port 10.
    case detection = 10
    /// The number of nearby radios: port 34.
    case paxcounter = 34
    /// A node that stores messages for others, and its clients: port 65.
    case storeForward = 65
    /// A text with a rising number: port 66.
    case rangeTest = 66

    public var port: UInt32 { UInt32(rawValue) }
}

/// One packet of a sensor or a counter. Its payload is stored as received.
///
/// Key in the `sensors` table: node (4 bytes), port (1), time (4), sequence (8), big-endian. Value: `Sensor` of `views.proto`.
public struct SensorRow: Sendable, Equatable {
    public var node: UInt32
    public var kind: SensorKind
    /// Seconds since 1970, and the clock that it came from.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    public var sequence: UInt64
    public var packetID: UInt32 = 0
    public var to: UInt32 = NodeID.broadcast
    public var channel = ""
    /// The gateway of the first readable reception, 0 if unknown; its signal, and the number of hops.
    public var gateway: UInt32 = 0
    public var snr: Float = 0
    public var rssi: Int32?
    public var hopsAway: UInt32?
    /// The port's payload, byte for byte.
    public var payload: [UInt8] = []

    init(node: UInt32, kind: SensorKind, time: UInt32, sequence: UInt64) {
        self.node = node
        self.kind = kind
        self.time = time
        self.sequence = sequence
    }

    /// The text of a detection sensor or a range test, and the text that a store-and-forward node passes on.
    public var text: String? {
        switch kind {
        case .detection, .rangeTest: return payload.rawSpan.asRepairedString
        case .storeForward:
            guard case .text(let bytes)? = storeAndForward?.content else { return nil }
            return bytes.rawSpan.asRepairedString
        case .paxcounter: return nil
        }
    }

    public var paxcount: Paxcount? {
        kind == .paxcounter ? try? Paxcount(decoding: payload.rawSpan) : nil  // broken ones are no rows
    }

    public var storeAndForward: StoreAndForward? {
        kind == .storeForward ? try? StoreAndForward(decoding: payload.rawSpan) : nil  // broken ones are no rows
    }
}

extension SensorRow: ViewRow, DeclaredFields {
    public static let kind = "sensor"
    public static let view = "sensors"
    public static let table = "sensors"

    static let declaration = RowDeclaration<SensorRow>([
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner).table("The node that sent it."),
        RowColumn(key: "kind", \.kind, widths: [1], numbers: { [UInt64($0.rawValue)] }, get: { $0.kind }).table(),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time).table("When it was sent."),
        RowColumn(key: "sequence", \.sequence) { $0.sequence }.table(Meaning.sequence),
        RowColumn(1, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(2, "packetID", \.packetID, as: .fixed32).table(Meaning.packet),
        RowColumn(3, "to", \.to, as: .fixed32.unless { $0 == NodeID.broadcast }, .node).table(Meaning.addressee, as: .addressee),
        RowColumn(4, "channel", \.channel, as: .text).table(Meaning.channel, as: .name),
        RowColumn(5, "gateway", \.gateway, as: .fixed32.unlessZero, .node).table(Meaning.gateway),
        RowColumn(6, "snr", \.snr, as: .float, .decibels),
        RowColumn(7, "rssi", \.rssi, as: .sint32, .dBm).table(Meaning.rssi),
        RowColumn(8, "hopsAway", \.hopsAway, as: .varint).table("Hops to the gateway."),
        RowColumn("text", \.text) { $0.text },
        RowColumn(9, "payload", \.payload, as: .bytes),
    ])

    public static let columns = declaration.columns

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 17, let kind = SensorKind(rawValue: key.byte(at: 4)) else { return nil }
        self.init(
            node: key.bigEndianUInt32(at: 0), kind: kind, time: key.bigEndianUInt32(at: 5), sequence: key.bigEndianUInt64(at: 9))
        guard take(value) else { return nil }
    }
}
