public import ProtobufWire

/// A node's report of its position: the payload of port 3.
public struct Position: Sendable, Hashable {
    /// Degrees times 10,000,000.
    public var latitudeE7: Int32?
    public var longitudeE7: Int32?
    /// Metres above sea level.
    public var altitude: Int32?
    /// When it was sent by the sender's clock, seconds since 1970; 0 if unknown.
    public var time: UInt32 = 0
    public var locationSource: UInt32 = 0
    public var altitudeSource: UInt32 = 0
    /// When the fix was taken, seconds since 1970; 0 if unknown.
    public var timestamp: UInt32 = 0
    public var timestampMillisAdjust: Int32 = 0
    /// Metres above the ellipsoid.
    public var altitudeHAE: Int32?
    /// Metres.
    public var altitudeGeoidalSeparation: Int32?
    /// Dilution of precision times 100, of position, plane and height.
    public var pdop: UInt32 = 0
    public var hdop: UInt32 = 0
    public var vdop: UInt32 = 0
    /// Millimetres.
    public var gpsAccuracy: UInt32 = 0
    /// Kilometres per hour, as devices fill it.
    public var groundSpeed: UInt32?
    /// Degrees times 100,000, as devices fill it; values above 36,000,000 are not a course: see `course`.
    public var groundTrack: UInt32?
    public var fixQuality: UInt32 = 0
    public var fixType: UInt32 = 0
    public var satellites: UInt32 = 0
    public var sensorID: UInt32 = 0
    /// Seconds.
    public var nextUpdate: UInt32 = 0
    public var sequenceNumber: UInt32 = 0
    /// How many bits of the coordinates are true; 0 if not stated, 32 for all.
    public var precisionBits: UInt32 = 0

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .fixed32): latitudeE7 = field.asInt32
            case WireField.tag(2, .fixed32): longitudeE7 = field.asInt32
            case WireField.tag(3, .varint): altitude = field.asInt32
            case WireField.tag(4, .fixed32): time = field.asUInt32
            case WireField.tag(5, .varint): locationSource = field.asUInt32
            case WireField.tag(6, .varint): altitudeSource = field.asUInt32
            case WireField.tag(7, .fixed32): timestamp = field.asUInt32
            case WireField.tag(8, .varint): timestampMillisAdjust = field.asInt32
            case WireField.tag(9, .varint): altitudeHAE = field.asSInt32
            case WireField.tag(10, .varint): altitudeGeoidalSeparation = field.asSInt32
            case WireField.tag(11, .varint): pdop = field.asUInt32
            case WireField.tag(12, .varint): hdop = field.asUInt32
            case WireField.tag(13, .varint): vdop = field.asUInt32
            case WireField.tag(14, .varint): gpsAccuracy = field.asUInt32
            case WireField.tag(15, .varint): groundSpeed = field.asUInt32
            case WireField.tag(16, .varint): groundTrack = field.asUInt32
            case WireField.tag(17, .varint): fixQuality = field.asUInt32
            case WireField.tag(18, .varint): fixType = field.asUInt32
            case WireField.tag(19, .varint): satellites = field.asUInt32
            case WireField.tag(20, .varint): sensorID = field.asUInt32
            case WireField.tag(21, .varint): nextUpdate = field.asUInt32
            case WireField.tag(22, .varint): sequenceNumber = field.asUInt32
            case WireField.tag(23, .varint): precisionBits = field.asUInt32
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        if let latitudeE7 { writer.sfixed32(1, latitudeE7) }
        if let longitudeE7 { writer.sfixed32(2, longitudeE7) }
        if let altitude { writer.int32(3, altitude) }
        if time != 0 { writer.fixed32(4, time) }
        writer.uint32Unless0(5, locationSource)
        writer.uint32Unless0(6, altitudeSource)
        if timestamp != 0 { writer.fixed32(7, timestamp) }
        if timestampMillisAdjust != 0 { writer.int32(8, timestampMillisAdjust) }
        if let altitudeHAE { writer.sint32(9, altitudeHAE) }
        if let altitudeGeoidalSeparation { writer.sint32(10, altitudeGeoidalSeparation) }
        writer.uint32Unless0(11, pdop)
        writer.uint32Unless0(12, hdop)
        writer.uint32Unless0(13, vdop)
        writer.uint32Unless0(14, gpsAccuracy)
        if let groundSpeed { writer.uint32(15, groundSpeed) }
        if let groundTrack { writer.uint32(16, groundTrack) }
        writer.uint32Unless0(17, fixQuality)
        writer.uint32Unless0(18, fixType)
        writer.uint32Unless0(19, satellites)
        writer.uint32Unless0(20, sensorID)
        writer.uint32Unless0(21, nextUpdate)
        writer.uint32Unless0(22, sequenceNumber)
        writer.uint32Unless0(23, precisionBits)
    }
}

extension Position {
    /// The direction of movement in degrees, clockwise from north; nil if it is missing or out of range.
    ///
    /// - Parameter groundTrack: degrees times 100,000.
    public static func course(groundTrack: UInt32?) -> Double? {
        groundTrack.flatMap { $0 <= 36_000_000 ? Double($0) / 100_000 : nil }
    }

    /// A dilution of precision; nil if missing.
    ///
    /// - Parameter hundredths: times 100, 0 if missing, as devices send it.
    public static func dilution(hundredths: UInt32) -> Double? { hundredths == 0 ? nil : Double(hundredths) / 100 }

    /// A coordinate as a node with reduced precision sends it: the top `bits` bits, and half of the removed range.
    public static func reduced(_ coordinateE7: Int32, bits: Int) -> Int32 {
        guard (1...31).contains(bits) else { return coordinateE7 }
        let raw = UInt32(bitPattern: coordinateE7) & (UInt32.max << UInt32(32 - bits))
        return Int32(bitPattern: raw &+ (1 << UInt32(31 - bits)))
    }
}
