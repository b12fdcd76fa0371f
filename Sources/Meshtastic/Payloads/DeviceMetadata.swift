public import ProtobufWire

/// A radio's firmware and capabilities: the FromRadio variant 13.
public struct DeviceMetadata: Sendable, Hashable {
    public var firmwareVersion = ""
    public var role: UInt32 = 0
    public var hardwareModel: UInt32 = 0

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .lengthDelimited): firmwareVersion = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(7, .varint): role = field.asUInt32
            case WireField.tag(9, .varint): hardwareModel = field.asUInt32
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        writer.stringUnlessEmpty(1, firmwareVersion)
        writer.uint32Unless0(7, role)
        writer.uint32Unless0(9, hardwareModel)
    }
}
