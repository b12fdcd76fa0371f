public import ProtobufWire

/// The type of a protobuf field's value.
public enum FieldKind: Sendable, Hashable {
    case bool, int32, int64, uint32, uint64, sint32, sint64
    case fixed32, fixed64, sfixed32, sfixed64, float, double
    case string, bytes
    /// A nested message: its place in `FieldTable.messages`.
    case message(Int)
    /// An enum: its place in `FieldTable.enums`.
    case enumeration(Int)

    /// The encoding of one value of this kind.
    public var wireType: WireType {
        switch self {
        case .bool, .int32, .int64, .uint32, .uint64, .sint32, .sint64, .enumeration: .varint
        case .fixed32, .sfixed32, .float: .fixed32
        case .fixed64, .sfixed64, .double: .fixed64
        case .string, .bytes, .message: .lengthDelimited
        }
    }

    /// The type's name in a `.proto` file; nil for messages and enums, which have their own names.
    public var scalarName: String? {
        switch self {
        case .bool: "bool"
        case .int32: "int32"
        case .int64: "int64"
        case .uint32: "uint32"
        case .uint64: "uint64"
        case .sint32: "sint32"
        case .sint64: "sint64"
        case .fixed32: "fixed32"
        case .fixed64: "fixed64"
        case .sfixed32: "sfixed32"
        case .sfixed64: "sfixed64"
        case .float: "float"
        case .double: "double"
        case .string: "string"
        case .bytes: "bytes"
        case .message, .enumeration: nil
        }
    }

    /// The kind behind a letter of the packed table.
    init?(letter: UInt8) {
        switch letter {
        case UInt8(ascii: "b"): self = .bool
        case UInt8(ascii: "i"): self = .int32
        case UInt8(ascii: "I"): self = .int64
        case UInt8(ascii: "u"): self = .uint32
        case UInt8(ascii: "U"): self = .uint64
        case UInt8(ascii: "z"): self = .sint32
        case UInt8(ascii: "Z"): self = .sint64
        case UInt8(ascii: "x"): self = .fixed32
        case UInt8(ascii: "X"): self = .fixed64
        case UInt8(ascii: "s"): self = .sfixed32
        case UInt8(ascii: "S"): self = .sfixed64
        case UInt8(ascii: "f"): self = .float
        case UInt8(ascii: "d"): self = .double
        case UInt8(ascii: "t"): self = .string
        case UInt8(ascii: "y"): self = .bytes
        default: return nil
        }
    }
}
