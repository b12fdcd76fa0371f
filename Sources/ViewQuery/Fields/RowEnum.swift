public import ProtobufWire

/// An enumeration that rows store by its raw value. An unknown value reads as the row's default.
///
/// ```swift
/// enum Weather: UInt8, RowEnum { case fair = 1, rain = 2 }
/// ```
public protocol RowEnum: RowScalar, RawRepresentable where RawValue: RowScalar {}

extension RowEnum {
    public static var layout: String { RawValue.layout }

    public func write(_ number: UInt32, to writer: inout WireWriter) { rawValue.write(number, to: &writer) }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Self? {
        try RawValue.read(field, reader).flatMap { Self(rawValue: $0) }
    }
}
