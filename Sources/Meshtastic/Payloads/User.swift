public import ProtobufWire

/// A node's announcement about itself: the payload of port 4.
///
/// Names with broken UTF-8 (devices cut them in the middle of a character) are repaired with U+FFFD; the bytes stay in the event.
public struct User: Sendable, Hashable {
    public var id = ""
    public var longName = ""
    public var shortName = ""
    /// Six bytes; deprecated.
    public var macAddress: [UInt8] = []
    public var hardwareModel: UInt32 = 0
    public var isLicensed = false
    public var role: UInt32 = 0
    /// 32 bytes, or empty.
    public var publicKey: [UInt8] = []
    public var isUnmessagable: Bool?

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .lengthDelimited): id = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(2, .lengthDelimited): longName = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(3, .lengthDelimited): shortName = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(4, .lengthDelimited): macAddress = reader.bytes(field).asArray
            case WireField.tag(5, .varint): hardwareModel = field.asUInt32
            case WireField.tag(6, .varint): isLicensed = field.asBool
            case WireField.tag(7, .varint): role = field.asUInt32
            case WireField.tag(8, .lengthDelimited): publicKey = reader.bytes(field).asArray
            case WireField.tag(9, .varint): isUnmessagable = field.asBool
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        writer.stringUnlessEmpty(1, id)
        writer.stringUnlessEmpty(2, longName)
        writer.stringUnlessEmpty(3, shortName)
        writer.bytesUnlessEmpty(4, macAddress)
        writer.uint32Unless0(5, hardwareModel)
        writer.boolIfTrue(6, isLicensed)
        writer.uint32Unless0(7, role)
        writer.bytesUnlessEmpty(8, publicKey)
        if let isUnmessagable { writer.bool(9, isUnmessagable) }
    }
}
