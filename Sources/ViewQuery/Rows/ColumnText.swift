internal import Foundation
internal import ProtobufWire

extension RowColumn {
    /// The property of a row as JSON: numbers, strings, arrays, `null`; bytes as hexadecimal digits, cases of enumerations by name.
    func json(of row: Row) -> String { JSONText.text(of: row[keyPath: keyPath]) }
}

extension JSONText {
    /// A value as JSON text.
    static func text(of value: Any) -> String {
        switch value {
        case let value as any OptionalValue: value.wrappedValue.map(text) ?? "null"
        case let value as Bool: value ? "true" : "false"
        case let value as String: quoted(value)
        case let value as any BinaryInteger: "\(value)"
        case let value as Double: number(value)
        case let value as Float: Double("\(value)").map(number) ?? "null"
        case let value as [UInt8]: quoted(Hexadecimal.text(value))
        case let value as [Any]: "[" + value.map(text).joined(separator: ",") + "]"
        case let value as any RawRepresentable: quoted("\(value)")
        default: encoded(value)
        }
    }

    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func encoded(_ value: Any) -> String {
        guard let value = value as? any Encodable else { return quoted("\(value)") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return quoted("\(value)") }  // what cannot be encoded is described
        return String(decoding: data, as: UTF8.self)
    }
}

/// An optional of any type.
private protocol OptionalValue {
    var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrappedValue: Any? { map { $0 } }
}
