public import ProtobufWire

/// A place that a user shares: the payload of port 8. A waypoint with the same id replaces it.
public struct Waypoint: Sendable, Hashable {
    public var id: UInt32 = 0
    /// Degrees times 10,000,000.
    public var latitudeE7: Int32?
    public var longitudeE7: Int32?
    /// Seconds since 1970; 0 for never, 1 to delete it.
    public var expire: UInt32 = 0
    /// The only node that may change it; 0 for all.
    public var lockedTo: UInt32 = 0
    public var name = ""
    public var description = ""
    /// A Unicode code point.
    public var icon: UInt32 = 0
    /// Metres.
    public var geofenceRadius: UInt32 = 0
    /// Degrees times 10,000,000.
    public var boundingBox: BoundingBox?
    public var notifyOnEnter = false
    public var notifyOnExit = false
    public var notifyFavoritesOnly = false

    public struct BoundingBox: Sendable, Hashable {
        public var westE7: Int32 = 0
        public var southE7: Int32 = 0
        public var eastE7: Int32 = 0
        public var northE7: Int32 = 0
        public init() {}
    }

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .varint): id = field.asUInt32
            case WireField.tag(2, .fixed32): latitudeE7 = field.asInt32
            case WireField.tag(3, .fixed32): longitudeE7 = field.asInt32
            case WireField.tag(4, .varint): expire = field.asUInt32
            case WireField.tag(5, .varint): lockedTo = field.asUInt32
            case WireField.tag(6, .lengthDelimited): name = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(7, .lengthDelimited): description = reader.string(field, scalars: TextLimit.description)
            case WireField.tag(8, .fixed32): icon = field.asUInt32
            case WireField.tag(9, .varint): geofenceRadius = field.asUInt32
            case WireField.tag(10, .lengthDelimited): boundingBox = try BoundingBox(decoding: reader.bytes(field))
            case WireField.tag(11, .varint): notifyOnEnter = field.asBool
            case WireField.tag(12, .varint): notifyOnExit = field.asBool
            case WireField.tag(13, .varint): notifyFavoritesOnly = field.asBool
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        writer.uint32Unless0(1, id)
        if let latitudeE7 { writer.sfixed32(2, latitudeE7) }
        if let longitudeE7 { writer.sfixed32(3, longitudeE7) }
        writer.uint32Unless0(4, expire)
        writer.uint32Unless0(5, lockedTo)
        writer.stringUnlessEmpty(6, name)
        writer.stringUnlessEmpty(7, description)
        writer.fixed32Unless0(8, icon)
        writer.uint32Unless0(9, geofenceRadius)
        if let boundingBox { writer.message(10) { boundingBox.encode(to: &$0) } }
        writer.boolIfTrue(11, notifyOnEnter)
        writer.boolIfTrue(12, notifyOnExit)
        writer.boolIfTrue(13, notifyFavoritesOnly)
    }
}

extension Waypoint.BoundingBox {
    init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .fixed32): westE7 = field.asInt32
            case WireField.tag(2, .fixed32): southE7 = field.asInt32
            case WireField.tag(3, .fixed32): eastE7 = field.asInt32
            case WireField.tag(4, .fixed32): northE7 = field.asInt32
            default: break
            }
        }
    }

    func encode(to writer: inout WireWriter) {
        for (number, edge) in zip(UInt32(1)..., [westE7, southE7, eastE7, northE7]) where edge != 0 {
            writer.sfixed32(number, edge)
        }
    }
}
