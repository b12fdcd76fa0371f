public import ProtobufWire

/// A gateway's report to the public map about itself: the payload of port 73.
public struct MapReport: Sendable, Hashable {
    public var longName = ""
    public var shortName = ""
    public var role: UInt32 = 0
    public var hardwareModel: UInt32 = 0
    public var firmwareVersion = ""
    public var region: UInt32 = 0
    public var modemPreset: UInt32 = 0
    public var hasDefaultChannel = false
    /// Degrees times 10,000,000; 0 if absent.
    public var latitudeE7: Int32 = 0
    public var longitudeE7: Int32 = 0
    /// Metres.
    public var altitude: Int32 = 0
    /// Bits, 12 to 15 as devices send it.
    public var positionPrecision: UInt32 = 0
    public var onlineLocalNodes: UInt32 = 0
    public var hasOptedReportLocation = false

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .lengthDelimited): longName = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(2, .lengthDelimited): shortName = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(3, .varint): role = field.asUInt32
            case WireField.tag(4, .varint): hardwareModel = field.asUInt32
            case WireField.tag(5, .lengthDelimited): firmwareVersion = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(6, .varint): region = field.asUInt32
            case WireField.tag(7, .varint): modemPreset = field.asUInt32
            case WireField.tag(8, .varint): hasDefaultChannel = field.asBool
            case WireField.tag(9, .fixed32): latitudeE7 = field.asInt32
            case WireField.tag(10, .fixed32): longitudeE7 = field.asInt32
            case WireField.tag(11, .varint): altitude = field.asInt32
            case WireField.tag(12, .varint): positionPrecision = field.asUInt32
            case WireField.tag(13, .varint): onlineLocalNodes = field.asUInt32
            case WireField.tag(14, .varint): hasOptedReportLocation = field.asBool
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        writer.stringUnlessEmpty(1, longName)
        writer.stringUnlessEmpty(2, shortName)
        writer.uint32Unless0(3, role)
        writer.uint32Unless0(4, hardwareModel)
        writer.stringUnlessEmpty(5, firmwareVersion)
        writer.uint32Unless0(6, region)
        writer.uint32Unless0(7, modemPreset)
        writer.boolIfTrue(8, hasDefaultChannel)
        if latitudeE7 != 0 { writer.sfixed32(9, latitudeE7) }
        if longitudeE7 != 0 { writer.sfixed32(10, longitudeE7) }
        if altitude != 0 { writer.int32(11, altitude) }
        writer.uint32Unless0(12, positionPrecision)
        writer.uint32Unless0(13, onlineLocalNodes)
        writer.boolIfTrue(14, hasOptedReportLocation)
    }
}
