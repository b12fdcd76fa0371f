import ProtobufWire

/// What a gateway last told the public map about itself.
///
/// Key in the `mapreports` table: its node number, 4 bytes big-endian. Value: `MapReport` of `views.proto`.
public struct MapReportRow: Sendable, Equatable, KeyedRow {
    public let node: UInt32
    /// Of the newest report, seconds since 1970, and whose clock that is.
    public var time: UInt32 = 0
    public var timeSource = TimeSource.arrival
    /// Of the earliest report.
    public var firstTime: UInt32 = 0
    public var firstSequence: UInt64 = 0
    /// The event of the newest report.
    public var sequence: UInt64 = 0
    /// How many reports there were.
    public var reports: UInt64 = 0
    public var longName = ""
    public var shortName = ""
    public var role: UInt32 = 0
    public var hardwareModel: UInt32 = 0
    public var firmware = ""
    public var region: UInt32 = 0
    public var modemPreset: UInt32 = 0
    public var hasDefaultChannel = false
    /// Degrees times 10,000,000, as exact as `precisionBits` says; nil where it did not tell, or none on the globe.
    public var latitudeE7: Int32?
    public var longitudeE7: Int32?
    /// Metres.
    public var altitude: Int32 = 0
    public var precisionBits: UInt32 = 0
    /// Nodes that it had heard lately, and the most that it ever told.
    public var onlineLocalNodes: UInt32 = 0
    public var mostOnlineLocalNodes: UInt32 = 0
    public var hasOptedReportLocation = false
    public var channel = ""

    public init(node: UInt32) { self.node = node }

    public var latitude: Double? { latitudeE7.map { Double($0) / 1e7 } }
    public var longitude: Double? { longitudeE7.map { Double($0) / 1e7 } }

    // MARK: Storage

    static let keyLength = 4
    var storedSize: Int { 250 }
    var key: UInt64 { UInt64(node) }

    func isOf(_ node: ForgottenNode) -> Bool { self.node == node.number }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.varint(2, UInt64(timeSource.rawValue))
        writer.fixed32(3, firstTime)
        writer.varint(4, firstSequence)
        writer.varint(5, sequence)
        writer.varint(6, reports)
        if !longName.isEmpty { writer.string(7, longName) }
        if !shortName.isEmpty { writer.string(8, shortName) }
        writer.present(9, role)
        writer.present(10, hardwareModel)
        if !firmware.isEmpty { writer.string(11, firmware) }
        writer.present(12, region)
        writer.present(13, modemPreset)
        if hasDefaultChannel { writer.bool(14, true) }
        if let latitudeE7 { writer.sfixed32(15, latitudeE7) }
        if let longitudeE7 { writer.sfixed32(16, longitudeE7) }
        if altitude != 0 { writer.sint32(17, altitude) }
        writer.present(18, precisionBits)
        writer.present(19, onlineLocalNodes)
        writer.present(20, mostOnlineLocalNodes)
        if hasOptedReportLocation { writer.bool(21, true) }
        if !channel.isEmpty { writer.string(22, channel) }
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(node: UInt32(truncatingIfNeeded: key))
        var reader = WireReader(value)
        while let field = try reader.next() { decode(field, reader) }
    }

    private mutating func decode(_ field: WireField, _ reader: borrowing WireReader) {
        switch field.number {
        case 1: time = field.asUInt32
        case 2: timeSource = TimeSource(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .arrival
        case 3: firstTime = field.asUInt32
        case 4: firstSequence = field.scalar
        case 5: sequence = field.scalar
        case 6: reports = field.scalar
        case 7: longName = reader.string(field)
        case 8: shortName = reader.string(field)
        case 9: role = field.asUInt32
        case 10: hardwareModel = field.asUInt32
        case 11: firmware = reader.string(field)
        case 12: region = field.asUInt32
        case 13: modemPreset = field.asUInt32
        case 14: hasDefaultChannel = field.asBool
        case 15: latitudeE7 = field.asInt32
        case 16: longitudeE7 = field.asInt32
        case 17: altitude = field.asSInt32
        case 18: precisionBits = field.asUInt32
        case 19: onlineLocalNodes = field.asUInt32
        case 20: mostOnlineLocalNodes = field.asUInt32
        case 21: hasOptedReportLocation = field.asBool
        case 22: channel = reader.string(field)
        default: break
        }
    }
}
