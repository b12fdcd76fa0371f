public import EventLog
package import Meshtastic
import ProtobufWire

/// One value of a row, as exact as the row has it.
public enum CellValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case float(Float)
    case text(String)
    /// Microseconds since 1970, printed in UTC with the fraction of the second.
    case instant(Timestamp)
    /// Seconds since 1970, printed in UTC.
    case second(Int64)
    case list([CellValue])
    case object([CellMember])
}

/// A named value of an object.
public struct CellMember: Hashable, Sendable {
    public var name: String
    public var value: CellValue

    public init(name: String, value: CellValue) {
        self.name = name
        self.value = value
    }
}

extension CellValue {
    /// A date in UTC, seconds since 1970; 0 is no date.
    package static func time(_ seconds: UInt32) -> CellValue { seconds == 0 ? .null : .second(Int64(seconds)) }

    package static func number(_ value: UInt32) -> CellValue { .unsigned(UInt64(value)) }
    package static func number(_ value: UInt32?) -> CellValue { value.map { .unsigned(UInt64($0)) } ?? .null }
    package static func number(_ value: Int32?) -> CellValue { value.map { .integer(Int64($0)) } ?? .null }
    package static func optional(_ value: Double?) -> CellValue { value.map { .double($0) } ?? .null }
    package static func optional(_ text: String) -> CellValue { text.isEmpty ? .null : .text(text) }
    package static func float(_ value: Float?) -> CellValue { value.map { .float($0) } ?? .null }

    /// The name of an enum's value, or its number if the schema has no name.
    package static func name(_ number: UInt32, of enumeration: String) -> CellValue {
        .text(FieldTable.valueName(number, of: enumeration))
    }

    /// A node's id; nothing for 0.
    package static func node(_ number: UInt32) -> CellValue { number == 0 ? .null : .text(NodeID.text(number)) }

    /// Numbers are read as numbers where 64 bits hold them.
    package init(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let digits):
            if let whole = Int64(digits) {
                self = .integer(whole)
            } else if let whole = UInt64(digits) {
                self = .unsigned(whole)
            } else {
                self = Double(digits).map { .double($0) } ?? .text(digits)
            }
        case .string(let text): self = .text(text)
        case .array(let values): self = .list(values.map { CellValue($0) })
        case .object(let members): self = .object(members.map { CellMember(name: $0.name, value: CellValue($0.value)) })
        }
    }

    /// For tables and CSV: nothing for null, lists joined by spaces.
    package var plain: String {
        switch self {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .double(let value): value.description
        case .float(let value): value.description
        case .text(let value): value
        case .instant(let time): ISO8601.text(microseconds: time.microseconds)
        case .second(let time): ISO8601.text(seconds: time)
        case .list(let values): values.map(\.plain).joined(separator: " ")
        case .object: json
        }
    }

    package var isNumber: Bool {
        switch self {
        case .integer, .unsigned, .double, .float: true
        default: false
        }
    }
}

extension MetricValue {
    /// The metric with the precision of the packet.
    package var cell: CellValue {
        switch self {
        case .integer(let value): .integer(value)
        case .unsigned(let value): .unsigned(value)
        case .float(let value): .float(value)
        case .text(let text): .text(text)
        case .list(let values): .list(values.map { .float($0) })
        }
    }
}
