public import ProtobufWire

/// A radio's report to its client about a node that it knows: the FromRadio variant 4.
public struct NodeInfo: Sendable, Hashable {
    public var number: UInt32 = 0
    public var user: User?
    public var position: Position?
    /// Decibels.
    public var snr: Float = 0
    /// Seconds since 1970; 0 if unknown.
    public var lastHeard: UInt32 = 0
    /// The body of DeviceMetrics; nil if absent.
    public var deviceMetrics: [UInt8]?
    /// The radio's local index.
    public var channel: UInt32 = 0
    public var viaMQTT = false
    public var hopsAway: UInt32?
    public var isFavorite = false
    public var isIgnored = false
    public var isKeyManuallyVerified = false
    public var isMuted = false
    public var hasXEdDSASigned = false

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .varint): number = field.asUInt32
            case WireField.tag(2, .lengthDelimited): user = try User(decoding: reader.bytes(field))
            case WireField.tag(3, .lengthDelimited): position = try Position(decoding: reader.bytes(field))
            case WireField.tag(4, .fixed32): snr = field.asFloat
            case WireField.tag(5, .fixed32): lastHeard = field.asUInt32
            case WireField.tag(6, .lengthDelimited): deviceMetrics = reader.bytes(field).asArray
            case WireField.tag(7, .varint): channel = field.asUInt32
            case WireField.tag(8, .varint): viaMQTT = field.asBool
            case WireField.tag(9, .varint): hopsAway = field.asUInt32
            case WireField.tag(10, .varint): isFavorite = field.asBool
            case WireField.tag(11, .varint): isIgnored = field.asBool
            case WireField.tag(12, .varint): isKeyManuallyVerified = field.asBool
            case WireField.tag(13, .varint): isMuted = field.asBool
            case WireField.tag(14, .varint): hasXEdDSASigned = field.asBool
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        writer.uint32Unless0(1, number)
        if let user { writer.message(2) { user.encode(to: &$0) } }
        if let position { writer.message(3) { position.encode(to: &$0) } }
        if snr.bitPattern != 0 { writer.float(4, snr) }
        writer.fixed32Unless0(5, lastHeard)
        if let deviceMetrics { writer.bytes(6, deviceMetrics) }
        writer.uint32Unless0(7, channel)
        writer.boolIfTrue(8, viaMQTT)
        if let hopsAway { writer.uint32(9, hopsAway) }
        writer.boolIfTrue(10, isFavorite)
        writer.boolIfTrue(11, isIgnored)
        writer.boolIfTrue(12, isKeyManuallyVerified)
        writer.boolIfTrue(13, isMuted)
        writer.boolIfTrue(14, hasXEdDSASigned)
    }
}
