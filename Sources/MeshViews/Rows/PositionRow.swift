import Meshtastic
import Projections
package import ProtobufWire
public import ViewQuery

/// One position that a node reported.
///
/// Key in the `positions` table: node, time (4 bytes each), sequence (8), big-endian. Value: `Position` of `views.proto`.
public struct PositionRow: Sendable, Equatable, Codable {
    public var node: UInt32
    /// Seconds since 1970, and the clock that it came from.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    public var sequence: UInt64
    public var packetID: UInt32 = 0
    /// Degrees times 10,000,000.
    public var latitudeE7: Int32 = 0
    public var longitudeE7: Int32 = 0
    /// Metres above mean sea level.
    public var altitude: Int32?
    /// As firmware fills it: km/h.
    public var groundSpeed: UInt32?
    /// As firmware fills it: degrees times 100,000; values above 36,000,000 are not a course.
    public var groundTrack: UInt32?
    public var satellites: UInt32 = 0
    /// How many upper bits of the coordinates are true; 0 if not stated, 32 for all.
    public var precisionBits: UInt32 = 0
    /// The sender's own stamps, unchecked: time of sending and of the GPS fix. 0 if missing.
    public var sentTime: UInt32 = 0
    public var fixTime: UInt32 = 0
    /// Dilution of precision of position, plane and height, times 100. 0 if missing.
    public var pdop: UInt32 = 0
    public var hdop: UInt32 = 0
    public var vdop: UInt32 = 0
    /// The gateway of the first readable reception, 0 if unknown; its signal in dB and dBm.
    public var gateway: UInt32 = 0
    public var snr: Float = 0
    public var rssi: Int32?

    /// Where the policy merges nearby positions: since when the node is there, seconds since 1970; 0 if this is the only one.
    public var since: UInt32 = 0

    public init(node: UInt32, time: UInt32, sequence: UInt64) {
        self.node = node
        self.time = time
        self.sequence = sequence
    }

    public var latitude: Double { Double(latitudeE7) / 1e7 }
    public var longitude: Double { Double(longitudeE7) / 1e7 }
    /// The direction of movement in degrees, clockwise from north; nil where it is missing or out of range.
    public var course: Double? { Position.course(groundTrack: groundTrack) }
}

extension PositionRow: ViewRow, DeclaredFields {
    public static let kind = "position"
    public static let view = "positions"
    public static let table = "positions"

    static let declaration = RowDeclaration<PositionRow>([
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner).table("The node that reported it."),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time).table("When the node was there."),
        RowColumn(key: "sequence", \.sequence) { $0.sequence }.table(Meaning.sequence),
        RowColumn(1, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(2, "packetID", \.packetID, as: .fixed32).table(Meaning.packet),
        RowColumn(3, "latitudeE7", \.latitudeE7, as: .sfixed32),
        RowColumn(4, "longitudeE7", \.longitudeE7, as: .sfixed32),
        RowColumn("latitude", \.latitude) { $0.latitude }.stored(3).computed(),
        RowColumn("longitude", \.longitude) { $0.longitude }.stored(4).computed(),
        RowColumn(5, "altitude", \.altitude, as: .sint32, .meters).table(Meaning.altitude),
        RowColumn(6, "groundSpeed", \.groundSpeed, as: .varint).table("As firmware fills it.", unit: "km/h"),
        RowColumn(7, "groundTrack", \.groundTrack, as: .varint, .degreesE5),
        RowColumn(8, "satellites", \.satellites, as: .varint.unlessZero).table("How many were in view.", as: .unlessZero),
        RowColumn(9, "precisionBits", \.precisionBits, as: .varint.unlessZero).table(Meaning.precision, as: .unlessZero),
        RowColumn(10, "sentTime", \.sentTime, as: .fixed32.unlessZero, .time).table(Meaning.sentTime),
        RowColumn(11, "fixTime", \.fixTime, as: .fixed32.unlessZero, .time).table(
            "When its receiver found the place, unchecked."),
        RowColumn(12, "pdop", \.pdop, as: .varint.unlessZero, .hundredths).table("Dilution of precision of the position."),
        RowColumn(13, "hdop", \.hdop, as: .varint.unlessZero, .hundredths).table("Dilution of precision of the plane."),
        RowColumn(14, "vdop", \.vdop, as: .varint.unlessZero, .hundredths).table("Dilution of precision of the height."),
        RowColumn(15, "gateway", \.gateway, as: .fixed32.unlessZero, .node).table(Meaning.gateway),
        RowColumn(16, "snr", \.snr, as: .float, .decibels),
        RowColumn(17, "rssi", \.rssi, as: .sint32, .dBm).table(Meaning.rssi),
        RowColumn(18, "since", \.since, as: .fixed32.unlessZero, .time).table(
            "Where nearby positions are merged: since when the node is there."),
    ])

    public static let columns = declaration.columns

    public static let indexes: [RowIndex<PositionRow>] = [.index(\.time)]

    package init(node: UInt32, time: UInt32, sequence: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(node: node, time: time, sequence: sequence)
        try Self.declaration.take(&self, from: value)
    }

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 16 else { return nil }
        try? self.init(  // nil for bytes that are not a row
            node: key.bigEndianUInt32(at: 0), time: key.bigEndianUInt32(at: 4), sequence: key.bigEndianUInt64(at: 8),
            decoding: value)
    }
}
