public import ProtobufWire

/// One channel slot of a radio: the FromRadio variant 10.
public struct ChannelFrame: Sendable, Hashable {
    /// The local index that packets of this radio carry.
    public var index: Int32 = 0
    public var name = ""
    /// The key as shared; all zeros if it was masked before it was stored.
    public var psk: [UInt8] = []
    /// 0 disabled, 1 primary, 2 secondary.
    public var role: UInt32 = 0
    public var isUplinkEnabled = false
    public var isDownlinkEnabled = false
    /// Whether the channel has authenticated encryption.
    public var isAEAD = false

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .varint): index = field.asInt32
            case WireField.tag(2, .lengthDelimited): try readSettings(reader.bytes(field))
            case WireField.tag(3, .varint): role = field.asUInt32
            default: break
            }
        }
    }

    private mutating func readSettings(_ bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(2, .lengthDelimited): psk = reader.bytes(field).asArray
            case WireField.tag(3, .lengthDelimited): name = reader.string(field, scalars: TextLimit.name)
            case WireField.tag(5, .varint): isUplinkEnabled = field.asBool
            case WireField.tag(6, .varint): isDownlinkEnabled = field.asBool
            case WireField.tag(8, .varint): isAEAD = field.asBool
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        if index != 0 { writer.int32(1, index) }
        writer.message(2) { settings in
            settings.bytesUnlessEmpty(2, psk)
            settings.stringUnlessEmpty(3, name)
            settings.boolIfTrue(5, isUplinkEnabled)
            settings.boolIfTrue(6, isDownlinkEnabled)
            settings.boolIfTrue(8, isAEAD)
        }
        writer.uint32Unless0(3, role)
    }
}
