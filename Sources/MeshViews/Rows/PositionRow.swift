import Meshtastic
package import ProtobufWire

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

    func encode(to writer: inout WireWriter) {
        writer.varint(1, UInt64(timeSource.rawValue))
        writer.fixed32(2, packetID)
        writer.fixed32(3, UInt32(bitPattern: latitudeE7))
        writer.fixed32(4, UInt32(bitPattern: longitudeE7))
        if let altitude { writer.sint32(5, altitude) }
        if let groundSpeed { writer.varint(6, UInt64(groundSpeed)) }
        if let groundTrack { writer.varint(7, UInt64(groundTrack)) }
        writer.present(8, satellites)
        writer.present(9, precisionBits)
        if sentTime != 0 { writer.fixed32(10, sentTime) }
        if fixTime != 0 { writer.fixed32(11, fixTime) }
        writer.present(12, pdop)
        writer.present(13, hdop)
        writer.present(14, vdop)
        if gateway != 0 { writer.fixed32(15, gateway) }
        if snr != 0 { writer.float(16, snr) }
        if let rssi { writer.sint32(17, rssi) }
        if since != 0 { writer.fixed32(18, since) }
    }

    package init(node: UInt32, time: UInt32, sequence: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(node: node, time: time, sequence: sequence)
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: timeSource = TimeSource(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .arrival
            case 2: packetID = field.asUInt32
            case 3: latitudeE7 = Int32(bitPattern: field.asUInt32)
            case 4: longitudeE7 = Int32(bitPattern: field.asUInt32)
            case 5: altitude = field.asSInt32
            case 6: groundSpeed = field.asUInt32
            case 7: groundTrack = field.asUInt32
            case 8: satellites = field.asUInt32
            case 9: precisionBits = field.asUInt32
            case 10: sentTime = field.asUInt32
            case 11: fixTime = field.asUInt32
            case 12: pdop = field.asUInt32
            case 13: hdop = field.asUInt32
            case 14: vdop = field.asUInt32
            case 15: gateway = field.asUInt32
            case 16: snr = field.asFloat
            case 17: rssi = field.asSInt32
            case 18: since = field.asUInt32
            default: continue
            }
        }
    }
}
