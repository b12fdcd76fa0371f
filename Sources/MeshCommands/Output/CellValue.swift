import EventLog
import Foundation
import ProtobufWire

/// One value of a row, as exact as the row has it.
enum CellValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case float(Float)
    case text(String)
    /// Microseconds since 1970, printed in UTC with the fraction of the second.
    case instant(Timestamp)
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

struct CellMember: Hashable, Sendable {
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
        case .instant(let time): TimeText.iso(microseconds: time.microseconds)
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

    /// For tables: a fraction with at most so many digits.
    func rounded(_ digits: Int) -> String {
        switch self {
        case .double(let value): String(format: "%.\(digits)f", value)
        case .float(let value): String(format: "%.\(digits)f", value)
        default: plain
        }
    }

    /// Nil for what is no time.
    var time: Timestamp? {
        switch self {
        case .instant(let time): time
        case .text(let text): ISOTime.parse(text)
        default: nil
        }
    }

    /// Numbers by value, before texts; null comes last.
    func precedes(_ other: CellValue) -> Bool {
        switch (self, other) {
        case (.null, _): false
        case (_, .null): true
        case (.instant(let left), .instant(let right)): left < right
        case (.unsigned(let left), .unsigned(let right)): left < right
        default:
            switch (isNumber ? Double(plain) : nil, other.isNumber ? Double(other.plain) : nil) {
            case (let left?, let right?): left < right
            case (nil, nil): plain < other.plain
            case (let left, _): left != nil
            }
        }
    }
}
