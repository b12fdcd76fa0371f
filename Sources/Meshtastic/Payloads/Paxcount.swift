public import ProtobufWire

/// The number of radios near a node: the payload of port 34.
public struct Paxcount: Sendable, Hashable {
    public var wifi: UInt32 = 0
    public var bluetooth: UInt32 = 0
    /// Seconds.
    public var uptime: UInt32 = 0

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .varint): wifi = field.asUInt32
            case WireField.tag(2, .varint): bluetooth = field.asUInt32
            case WireField.tag(3, .varint): uptime = field.asUInt32
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        writer.uint32Unless0(1, wifi)
        writer.uint32Unless0(2, bluetooth)
        writer.uint32Unless0(3, uptime)
    }
}
