import ProtobufWire
public import ViewQuery

/// A gateway's last report to the public map about itself.
///
/// Key in the `mapreports` table: its node number, 4 bytes big-endian. Value: `MapReport` of `views.proto`.
public struct MapReportRow: Sendable, Equatable {
    public let node: UInt32
    /// Of the newest report, seconds since 1970, and the clock that it came from.
    public var time: UInt32 = 0
    public var timeSource = TimeSource.arrival
    /// The time of the earliest report.
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
    /// Degrees times 10,000,000, as exact as `precisionBits` states; nil where it reports no place, or none on the globe.
    public var latitudeE7: Int32?
    public var longitudeE7: Int32?
    /// Metres.
    public var altitude: Int32 = 0
    public var precisionBits: UInt32 = 0
    /// Nodes that it had recently heard, and the highest number that it ever reported.
    public var onlineLocalNodes: UInt32 = 0
    public var mostOnlineLocalNodes: UInt32 = 0
    public var hasOptedReportLocation = false
    public var channel = ""

    public init(node: UInt32) { self.node = node }

    public var latitude: Double? { latitudeE7.map { Double($0) / 1e7 } }
    public var longitude: Double? { longitudeE7.map { Double($0) / 1e7 } }

    // MARK: Storage

    var storedSize: Int { 250 }
    var key: UInt64 { UInt64(node) }

    var age: UInt32 { timeSource == .import ? 0 : time }

    init(key: UInt64) { self.init(node: UInt32(truncatingIfNeeded: key)) }
}

extension MapReportRow: ViewRow, DeclaredRow {
    public static let kind = "mapReport"
    public static let view = "mapreports"
    public static let table = "mapreports"

    static let declaration = RowDeclaration<MapReportRow>([
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner).table("The node that reported itself."),
        RowColumn(1, "time", \.time, as: .fixed32, .time).table("When it reported."),
        RowColumn(2, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(3, "firstTime", \.firstTime, as: .fixed32, .time).table("When it first reported."),
        RowColumn(4, "firstSequence", \.firstSequence, as: .varint).table(Meaning.firstSequence),
        RowColumn(5, "sequence", \.sequence, as: .varint).table(Meaning.sequence),
        RowColumn(6, "reports", \.reports, as: .varint).table("How many were heard."),
        RowColumn(7, "longName", \.longName, as: .text).table(),
        RowColumn(8, "shortName", \.shortName, as: .text).table(),
        RowColumn(9, "role", \.role, as: .varint.unlessZero).table(Meaning.role, as: .values(of: "Config.DeviceConfig.Role")),
        RowColumn(10, "hardwareModel", \.hardwareModel, as: .varint.unlessZero),
        RowColumn(11, "firmware", \.firmware, as: .text).table(Meaning.firmware, as: .name),
        RowColumn(12, "region", \.region, as: .varint.unlessZero).table(as: .values(of: "Config.LoRaConfig.RegionCode")),
        RowColumn(13, "modemPreset", \.modemPreset, as: .varint.unlessZero).table(
            as: .values(of: "Config.LoRaConfig.ModemPreset")),
        RowColumn(14, "hasDefaultChannel", \.hasDefaultChannel, as: .flag).table(),
        RowColumn(15, "latitudeE7", \.latitudeE7, as: .sfixed32),
        RowColumn(16, "longitudeE7", \.longitudeE7, as: .sfixed32),
        RowColumn("latitude", \.latitude) { $0.latitude }.stored(15).computed(),
        RowColumn("longitude", \.longitude) { $0.longitude }.stored(16).computed(),
        RowColumn(17, "altitude", \.altitude, as: .sint32.unlessZero, .meters),
        RowColumn(18, "precisionBits", \.precisionBits, as: .varint.unlessZero).table(Meaning.precision, as: .unlessZero),
        RowColumn(19, "onlineLocalNodes", \.onlineLocalNodes, as: .varint.unlessZero).table("Nodes it heard lately."),
        RowColumn(20, "mostOnlineLocalNodes", \.mostOnlineLocalNodes, as: .varint.unlessZero).table(
            "The most of all its reports."),
        RowColumn(21, "hasOptedReportLocation", \.hasOptedReportLocation, as: .flag).table(),
        RowColumn(22, "channel", \.channel, as: .text).table("Its primary channel.", as: .name),
    ])

    public static let columns = declaration.columns

    public init?(key: RawSpan, value: RawSpan) { self.init(stored: key, value) }
}
