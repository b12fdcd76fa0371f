import Foundation
import ProtobufWire

/// One value of a row, as exact as the row has it.
enum CellValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case float(Float)
    case text(String)
    case list([CellValue])
    case object([CellMember])

    /// A date in UTC, seconds since 1970; 0 is no date.
    static func time(_ seconds: UInt32) -> CellValue { seconds == 0 ? .null : .text(TimeText.iso(Int64(seconds))) }

    static func number(_ value: UInt32) -> CellValue { .unsigned(UInt64(value)) }
    static func number(_ value: UInt32?) -> CellValue { value.map { .unsigned(UInt64($0)) } ?? .null }
    static func number(_ value: Int32?) -> CellValue { value.map { .integer(Int64($0)) } ?? .null }
    static func optional(_ value: Double?) -> CellValue { value.map { .double($0) } ?? .null }
    static func optional(_ text: String) -> CellValue { text.isEmpty ? .null : .text(text) }
}

struct CellMember: Equatable, Sendable {
    var name: String
    var value: CellValue
}

extension CellValue {
    /// For tables and CSV: nothing for null, lists joined by spaces.
    var plain: String {
        switch self {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .double(let value): value.description
        case .float(let value): value.description
        case .text(let value): value
        case .list(let values): values.map(\.plain).joined(separator: " ")
        case .object: json
        }
    }

    var isNumber: Bool {
        switch self {
        case .integer, .unsigned, .double, .float: true
        default: false
        }
    }

    /// JSON. Numbers are exact (the shortest form that reads back); NaN and infinities, which JSON does not have, are null.
    var json: String {
        switch self {
        case .null: "null"
        case .bool, .integer, .unsigned: plain
        case .double(let value): value.isFinite ? value.description : "null"
        case .float(let value): value.isFinite ? value.description : "null"
        case .text(let value): JSONText.quoted(value)
        case .list(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { JSONText.quoted($0.name) + ":" + $0.value.json }.joined(separator: ",") + "}"
        }
    }
}
