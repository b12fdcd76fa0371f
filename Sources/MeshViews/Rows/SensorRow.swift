public import Meshtastic
import ProtobufWire

/// Which sensor or counter sent something.
public enum SensorKind: UInt8, Sendable, CaseIterable, Codable {
    /// A text that a contact or a motion sensor sends: port 10.
    case detection = 10
    /// How many radios are near: port 34.
    case paxcounter = 34
    /// A node that keeps messages for others, and those who ask it: port 65.
    case storeForward = 65
    /// A text that counts up: port 66.
    case rangeTest = 66

    public var port: UInt32 { UInt32(rawValue) }
}

/// One packet of a sensor or a counter. Its payload stays as it came.
///
/// Key in the `sensors` table: node (4 bytes), port (1), time (4), sequence (8), big-endian. Value: `Sensor` of `views.proto`.
public struct SensorRow: Sendable, Equatable {
    public var node: UInt32
    public var kind: SensorKind
    /// Seconds since 1970, and whose clock that is.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    public var sequence: UInt64
    public var packetID: UInt32 = 0
    public var to: UInt32 = NodeID.broadcast
    public var channel = ""
    /// The gateway of the first readable reception, 0 = unknown; how well it heard the packet, and after how many hops.
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

    /// What a detection sensor or a range test says, and the text that a store-and-forward node passes on.
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

    // MARK: Storage

    func encode(to writer: inout WireWriter) {
        writer.varint(1, UInt64(timeSource.rawValue))
        writer.fixed32(2, packetID)
        if to != NodeID.broadcast { writer.fixed32(3, to) }
        if !channel.isEmpty { writer.string(4, channel) }
        if gateway != 0 { writer.fixed32(5, gateway) }
        if snr != 0 { writer.float(6, snr) }
        if let rssi { writer.sint32(7, rssi) }
        if let hopsAway { writer.varint(8, UInt64(hopsAway)) }
        writer.bytes(9, payload)
    }

    init(node: UInt32, kind: SensorKind, time: UInt32, sequence: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(node: node, kind: kind, time: time, sequence: sequence)
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: timeSource = TimeSource(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .arrival
            case 2: packetID = field.asUInt32
            case 3: to = field.asUInt32
            case 4: channel = reader.string(field)
            case 5: gateway = field.asUInt32
            case 6: snr = field.asFloat
            case 7: rssi = field.asSInt32
            case 8: hopsAway = field.asUInt32
            case 9: payload = reader.bytes(field).asArray
            default: continue
            }
        }
    }
}
