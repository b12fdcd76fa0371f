import ProtobufWire

/// What the mesh has reported about one node. A node is listed from the first packet that names it as sender.
///
/// Key in the `nodes` table: its number, 4 bytes big-endian. Value: `Node` of `views.proto`.
public struct NodeRow: Sendable, Equatable, Codable {
    /// The node's number; its text form is `!` and eight hexadecimal digits.
    public var number: UInt32
    /// Names as the node sent them, invalid UTF-8 repaired; empty until it introduces itself.
    public var longName = ""
    public var shortName = ""
    /// A number of `HardwareModel`; 0 is unset.
    public var hardwareModel: UInt32 = 0
    /// A number of `Config.DeviceConfig.Role`.
    public var role: UInt32 = 0
    public var isLicensed = false
    public var isUnmessagable: Bool?
    /// The first public key that the node announced (32 bytes), or empty.
    public var publicKey: [UInt8] = []
    /// Another key was announced later under the same number.
    public var hasKeyConflict = false
    /// The firmware version from a map report.
    public var firmware = ""
    /// Seconds since 1970.
    public var firstHeard: UInt32 = 0
    public var lastHeard: UInt32 = 0
    /// Signal of the newest reception over radio: dB, and dBm or nil.
    public var snr: Float = 0
    public var rssi: Int32?
    /// Hops between the node and the radio that last heard it, or nil when the packet did not state them.
    public var hopsAway: UInt32?
    /// The last packet crossed MQTT on its way.
    public var isViaMQTT = false
    /// Name of the channel it was last readable on.
    public var channel = ""
    /// All receptions of its packets by any gateway.
    public var receptions: UInt64 = 0
    /// Its packets, each counted once.
    public var packets: UInt64 = 0
    /// Packets of which no known key has opened any reception.
    public var unreadable: UInt64 = 0
    /// Its first and last event.
    public var firstSequence: UInt64 = 0
    public var lastSequence: UInt64 = 0
    /// A person's decisions about it, by annotations: these are no events of the node, so `lastSequence` does not include them.
    public var isFavorite = false
    public var isIgnored = false
    /// When it was archived, seconds since 1970; 0 where it is not.
    public var archivedAt: UInt32 = 0
    public var note = ""
    /// A custom name, unique among all nodes.
    public var alias = ""
    /// When each of these values was heard.
    var times = NodeTimes()

    public var isArchived: Bool { archivedAt != 0 }

    public init(number: UInt32) { self.number = number }

    /// How much is known of a node.
    public enum State: String, Sendable, CaseIterable, Codable {
        /// It was heard, but has not introduced itself.
        case heard
        /// Its name or hardware is known, from itself or from a radio that knows it.
        case introduced
    }

    public var state: State { isKnown ? .introduced : .heard }

    /// Whether the node has introduced itself.
    public var isKnown: Bool { !longName.isEmpty || !shortName.isEmpty || hardwareModel != 0 }

    func encode(to writer: inout WireWriter) {
        if !longName.isEmpty { writer.string(1, longName) }
        if !shortName.isEmpty { writer.string(2, shortName) }
        writer.present(3, hardwareModel)
        writer.present(4, role)
        if isLicensed { writer.bool(5, true) }
        if let isUnmessagable { writer.bool(6, isUnmessagable) }
        if !publicKey.isEmpty { writer.bytes(7, publicKey) }
        if hasKeyConflict { writer.bool(8, true) }
        if !firmware.isEmpty { writer.string(9, firmware) }
        writer.fixed32(10, firstHeard)
        writer.fixed32(11, lastHeard)
        if snr != 0 { writer.float(12, snr) }
        if let rssi { writer.sint32(13, rssi) }
        if let hopsAway { writer.varint(14, UInt64(hopsAway)) }
        if isViaMQTT { writer.bool(15, true) }
        if !channel.isEmpty { writer.string(16, channel) }
        writer.varint(17, receptions)
        writer.varint(18, packets)
        writer.present(19, unreadable)
        writer.varint(20, firstSequence)
        writer.varint(21, lastSequence)
        if isFavorite { writer.bool(22, true) }
        if isIgnored { writer.bool(23, true) }
        if archivedAt != 0 { writer.fixed32(24, archivedAt) }
        if !note.isEmpty { writer.string(25, note) }
        if !alias.isEmpty { writer.string(26, alias) }
        times.encode(to: &writer, field: 27)
    }

    init(number: UInt32, decoding value: RawSpan) throws(WireError) {
        self.number = number
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: longName = reader.bytes(field).asRepairedString
            case 2: shortName = reader.bytes(field).asRepairedString
            case 3: hardwareModel = field.asUInt32
            case 4: role = field.asUInt32
            case 5: isLicensed = field.asBool
            case 6: isUnmessagable = field.asBool
            case 7: publicKey = reader.bytes(field).asArray
            case 8: hasKeyConflict = field.asBool
            case 9: firmware = reader.bytes(field).asRepairedString
            case 10: firstHeard = field.asUInt32
            case 11: lastHeard = field.asUInt32
            case 12: snr = field.asFloat
            case 13: rssi = field.asSInt32
            case 14: hopsAway = field.asUInt32
            case 15: isViaMQTT = field.asBool
            case 16: channel = reader.bytes(field).asRepairedString
            case 17: receptions = field.scalar
            case 18: packets = field.scalar
            case 19: unreadable = field.scalar
            case 20: firstSequence = field.scalar
            case 21: lastSequence = field.scalar
            case 22: isFavorite = field.asBool
            case 23: isIgnored = field.asBool
            case 24: archivedAt = field.asUInt32
            case 25: note = reader.bytes(field).asRepairedString
            case 26: alias = reader.bytes(field).asRepairedString
            case 27: times = try NodeTimes(decoding: reader.bytes(field))
            default: continue
            }
        }
    }
}
