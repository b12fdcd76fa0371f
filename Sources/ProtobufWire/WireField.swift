/// One field of a message: its number, its wire type, and its scalar or the place of its body.
@frozen
public struct WireField: Sendable, Equatable {
    /// Field number and wire type as encoded: `number << 3 | type`. A `switch` over tags is the fastest way to read a message.
    public var tag: UInt32
    /// The value of a varint or fixed field; 0 for the others.
    public var scalar: UInt64
    /// The body of a length-delimited field or of a group (without its end tag); empty for the others.
    public var range: ByteRange

    @inlinable @inline(__always)
    public init(tag: UInt32, scalar: UInt64 = 0, range: ByteRange = ByteRange(offset: 0, length: 0)) {
        self.tag = tag
        self.scalar = scalar
        self.range = range
    }

    @inlinable public var number: UInt32 { tag >> 3 }
    @inlinable public var type: WireType { WireType(rawValue: UInt8(tag & 7)) ?? .varint }

    /// The tag of a field: the value of `tag` for this number and type.
    @inlinable @inline(__always)
    public static func tag(_ number: UInt32, _ type: WireType) -> UInt32 { number << 3 | UInt32(type.rawValue) }
}

extension WireField {
    /// The low 32 bits, as protobuf reads a 32-bit number from a longer varint.
    @inlinable public var asUInt32: UInt32 { UInt32(truncatingIfNeeded: scalar) }
    @inlinable public var asInt32: Int32 { Int32(truncatingIfNeeded: scalar) }
    @inlinable public var asInt64: Int64 { Int64(bitPattern: scalar) }
    /// Zigzag: 0, -1, 1, -2, …
    @inlinable public var asSInt32: Int32 { Self.zigzag32(scalar) }
    @inlinable @inline(__always)
    package static func zigzag32(_ scalar: UInt64) -> Int32 {
        let bits = UInt32(truncatingIfNeeded: scalar)
        return Int32(bitPattern: bits >> 1) ^ -Int32(bitPattern: bits & 1)
    }
    @inlinable public var asSInt64: Int64 { Int64(bitPattern: scalar >> 1) ^ -Int64(bitPattern: scalar & 1) }
    @inlinable public var asBool: Bool { scalar != 0 }
    @inlinable public var asFloat: Float { Float(bitPattern: asUInt32) }
    @inlinable public var asDouble: Double { Double(bitPattern: scalar) }
}

/// How the body of a protobuf field is laid out: the low three bits of its tag.
public enum WireType: UInt8, Sendable, CaseIterable {
    case varint = 0
    case fixed64 = 1
    case lengthDelimited = 2
    case startGroup = 3
    case endGroup = 4
    case fixed32 = 5
}
