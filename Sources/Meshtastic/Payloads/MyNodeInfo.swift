public import ProtobufWire

/// A radio's report to its client about itself: the FromRadio variant 3.
public struct MyNodeInfo: Sendable, Hashable {
    public var number: UInt32 = 0
    public var rebootCount: UInt32 = 0
    public var minAppVersion: UInt32 = 0
    public var deviceID: [UInt8] = []
    public var environment = ""
    public var firmwareEdition: UInt32 = 0
    public var nodeCount: UInt32 = 0

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .varint): number = field.asUInt32
            case WireField.tag(8, .varint): rebootCount = field.asUInt32
            case WireField.tag(11, .varint): minAppVersion = field.asUInt32
            case WireField.tag(12, .lengthDelimited): deviceID = reader.bytes(field).asArray
            case WireField.tag(13, .lengthDelimited): environment = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(14, .varint): firmwareEdition = field.asUInt32
            case WireField.tag(15, .varint): nodeCount = field.asUInt32
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        writer.uint32Unless0(1, number)
        writer.uint32Unless0(8, rebootCount)
        writer.uint32Unless0(11, minAppVersion)
        writer.bytesUnlessEmpty(12, deviceID)
        writer.stringUnlessEmpty(13, environment)
        writer.uint32Unless0(14, firmwareEdition)
        writer.uint32Unless0(15, nodeCount)
    }
}
