public import ProtobufWire

/// The nodes on the route there and back, without the end nodes: the payload of port 70.
public struct RouteDiscovery: Sendable, Hashable {
    /// 0xFFFFFFFF represents a hop that could not read the packet.
    public var route: [UInt32] = []
    /// Decibels times 4; -128 if unknown. A complete list has one more element than its route.
    public var snrTowards: [Int32] = []
    public var routeBack: [UInt32] = []
    public var snrBack: [Int32] = []

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: try reader.append(fixed32s: field, to: &route)
            case 2: try reader.append(int32s: field, to: &snrTowards)
            case 3: try reader.append(fixed32s: field, to: &routeBack)
            case 4: try reader.append(int32s: field, to: &snrBack)
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        if !route.isEmpty { writer.packedFixed32(1, route) }
        if !snrTowards.isEmpty { writer.packedInt32(2, snrTowards) }
        if !routeBack.isEmpty { writer.packedFixed32(3, routeBack) }
        if !snrBack.isEmpty { writer.packedInt32(4, snrBack) }
    }
}

extension WireReader {
    /// A repeated field, packed or not.
    func append(fixed32s field: WireField, to values: inout [UInt32]) throws(WireError) {
        switch field.type {
        case .fixed32: values.append(field.asUInt32)
        case .lengthDelimited:
            var list = WireReader(bytes(field))
            while !list.isAtEnd { values.append(try list.fixed32()) }
        default: break
        }
    }

    func append(int32s field: WireField, to values: inout [Int32]) throws(WireError) {
        switch field.type {
        case .varint: values.append(field.asInt32)
        case .lengthDelimited:
            var list = WireReader(bytes(field))
            while !list.isAtEnd { values.append(Int32(truncatingIfNeeded: try list.varint())) }
        default: break
        }
    }
}
