public import Foundation
public import ProtobufWire

extension String: RowScalar {
    public static var layout: String { "string" }

    public func write(_ number: UInt32, to writer: inout WireWriter) { writer.string(number, self) }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> String? {
        field.type == .lengthDelimited ? reader.string(field) : nil
    }
}

extension Data: RowScalar {
    public static var layout: String { "bytes" }

    public func write(_ number: UInt32, to writer: inout WireWriter) { writer.bytes(number, Array(self)) }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Data? {
        field.type == .lengthDelimited ? Data(reader.bytes(field).asArray) : nil
    }
}

/// Seconds since 2001 as a double, as in Foundation: every date is restored exactly.
extension Date: RowScalar {
    public static var layout: String { "date" }

    public func write(_ number: UInt32, to writer: inout WireWriter) { writer.double(number, timeIntervalSinceReferenceDate) }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Date? {
        field.type == .fixed64 ? Date(timeIntervalSinceReferenceDate: field.asDouble) : nil
    }
}

/// Its 16 bytes.
extension UUID: RowScalar {
    public static var layout: String { "uuid" }

    public func write(_ number: UInt32, to writer: inout WireWriter) {
        let bytes = unsafe withUnsafeBytes(of: uuid) { unsafe Array($0) }  // a tuple of sixteen bytes
        writer.bytes(number, bytes)
    }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> UUID? {
        guard field.type == .lengthDelimited, field.range.length == 16 else { return nil }
        let text = Hexadecimal.text(reader.bytes(field).asArray)
        var parts: [Substring] = []
        var rest = text[...]
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return UUID(uuidString: parts.joined(separator: "-"))
    }
}
