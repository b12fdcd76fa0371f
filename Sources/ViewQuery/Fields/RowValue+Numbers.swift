public import ProtobufWire

extension RowScalar where Self: FixedWidthInteger & UnsignedInteger {
    public static var layout: String { "uint\(Self.bitWidth)" }

    public func write(_ number: UInt32, to writer: inout WireWriter) { writer.varint(number, UInt64(self)) }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Self? {
        field.type == .varint ? Self(exactly: field.scalar) : nil
    }
}

extension RowScalar where Self: FixedWidthInteger & SignedInteger {
    public static var layout: String { "sint\(Self.bitWidth)" }

    public func write(_ number: UInt32, to writer: inout WireWriter) { writer.sint64(number, Int64(self)) }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Self? {
        field.type == .varint ? Self(exactly: field.asSInt64) : nil
    }
}

extension UInt16: RowScalar {}
extension UInt32: RowScalar {}
extension UInt64: RowScalar {}
extension UInt: RowScalar {}
extension Int8: RowScalar {}
extension Int16: RowScalar {}
extension Int32: RowScalar {}
extension Int64: RowScalar {}
extension Int: RowScalar {}

/// A list of them is stored as bytes.
extension UInt8: RowScalar {
    public static var listLayout: String { "bytes" }

    public static func write(_ list: [UInt8], _ number: UInt32, to writer: inout WireWriter) { writer.bytes(number, list) }

    public static func take(
        _ field: WireField, _ reader: borrowing WireReader, into list: inout [UInt8]
    ) throws(WireError) {
        if field.type == .lengthDelimited { list = reader.bytes(field).asArray }
    }
}

extension Bool: RowScalar {
    public static var layout: String { "bool" }

    public func write(_ number: UInt32, to writer: inout WireWriter) { writer.bool(number, self) }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Bool? {
        field.type == .varint ? field.asBool : nil
    }
}

/// Bit by bit: a NaN keeps its bits, and zero keeps its sign.
extension Float: RowScalar {
    public static var layout: String { "float" }

    public func write(_ number: UInt32, to writer: inout WireWriter) { writer.float(number, self) }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Float? {
        field.type == .fixed32 ? field.asFloat : nil
    }
}

/// Bit by bit: a NaN keeps its bits, and zero keeps its sign.
extension Double: RowScalar {
    public static var layout: String { "double" }

    public func write(_ number: UInt32, to writer: inout WireWriter) { writer.double(number, self) }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Double? {
        field.type == .fixed64 ? field.asDouble : nil
    }
}
