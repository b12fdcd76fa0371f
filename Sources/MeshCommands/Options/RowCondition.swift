import ArgumentParser
import EventLog
import Foundation
import MeshLedger
import MeshTables
import Meshtastic
import ViewQuery

/// A condition on rows on the command line: `node=!19025c00`, `time>=yesterday`, `longName~harbour`.
struct RowCondition {
    let column: String
    /// Nil for `~`.
    let comparison: ColumnComparison?
    let text: String

    /// - Throws: an error that says which forms are accepted.
    static func parsed(_ argument: String) throws -> RowCondition {
        func refusal(_ reason: String) -> ValidationError {
            ValidationError(
                "\(reason) in the condition '\(argument)': write a column, one of =, !=, <, <=, >, >=, ~, and a value")
        }
        guard let start = argument.firstIndex(where: { "=!<>~".contains($0) }) else { throw refusal("there is no comparison") }
        let column = argument[..<start].trimmingCharacters(in: .whitespaces)
        guard !column.isEmpty else { throw refusal("there is no column") }
        let rest = argument[start...]
        if ["=>", "=<"].contains(where: rest.hasPrefix) { throw refusal("\(rest.prefix(2)) is no comparison") }
        let signs = ["==", "<>", "~"] + ColumnComparison.allCases.map(\.rawValue).sorted { $0.count > $1.count }
        guard let sign = signs.first(where: rest.hasPrefix) else { throw refusal("\(rest.prefix(2)) is no comparison") }
        let text = rest.dropFirst(sign.count).trimmingCharacters(in: .whitespaces)
        let comparison = ["==": .equal, "<>": .notEqual][sign] ?? ColumnComparison(rawValue: sign)
        return RowCondition(column, comparison, text)
    }

    init(_ column: String, _ comparison: ColumnComparison?, _ text: String) {
        (self.column, self.comparison, self.text) = (column, comparison, text)
    }

    /// Whether it asks for a value that must be a known name of the column.
    var isAboutNames: Bool { (comparison == .equal || comparison == .notEqual) && !text.isEmpty }

    /// Whether it can ask for rows without a value.
    var canBeEmpty: Bool { comparison == nil || comparison == .equal || comparison == .notEqual }

    var sign: String { comparison?.rawValue ?? "~" }

    /// The value in the column's form: a node's number for its name, seconds for a time.
    func value(_ kind: ColumnKind, in ledger: Ledger) throws -> String {
        switch kind {
        case .node:
            guard comparison != nil, let node = NodeArgument(argument: text) else { return text }
            return String(try node.number(in: ledger))
        case .time:
            guard comparison != nil else { return text }
            return String(try time().time.seconds)
        default: return text
        }
    }

    /// Nil where rows without a time are asked for, or a part of its text.
    func time(_ kind: ColumnKind) throws -> TimeArgument? {
        kind == .time && comparison != nil && !text.isEmpty ? try time() : nil
    }

    private func time() throws -> TimeArgument {
        guard let time = TimeArgument(text) else {
            throw CommandError(.usage, "'\(text)' is not a time: \(TimeArgument.refusal(text))")
        }
        return time
    }

    /// Whether it holds for a time, of which `=` takes every one of the year, month, day or minute that is written.
    func holds(_ left: Timestamp, _ right: Timestamp, end: Timestamp?) -> Bool {
        guard let end, comparison == .equal || comparison == .notEqual else { return comparison?.holds(left, right) ?? false }
        return (right <= left && left < end) == (comparison == .equal)
    }

    /// The value as a length of time in seconds: `1d`, `90m`.
    func seconds(of column: String) throws -> String {
        guard comparison != nil, !text.isEmpty, Double(text) == nil else { return text }
        let now = Timestamp(seconds: 0)
        guard text.contains(where: \.isLetter), let then = TimeArgument(text, now: now), then.time <= now else {
            throw CommandError(.usage, "'\(text)' is not a length of time: \(column) takes 90m, 2h, 1d or seconds")
        }
        return String(-then.time.seconds)
    }

    /// The value as lists print it: a node's id for its name.
    func printedValue(_ kind: ColumnKind, in ledger: Ledger) throws -> String {
        guard comparison != nil, kind == .node || kind == .time, !text.isEmpty else { return text }
        if kind == .time { return ISO8601.text(microseconds: try time().time.microseconds) }
        let value = try value(kind, in: ledger)
        return UInt32(value).map(NodeID.addressee) ?? value
    }

    /// Whether it holds for a value that the store cannot compare: an optional, an enumeration, a list.
    func holds(_ cell: CellValue, _ value: String) -> Bool {
        guard let comparison else { return false }  // a pattern, which is made once for all rows
        if case .list(let entries) = cell {
            guard !value.isEmpty else { return entries.isEmpty == (comparison == .equal) }
            return comparison == .notEqual
                ? entries.allSatisfy { holds($0, value) } : entries.contains { holds($0, value) }
        }
        if cell == .null { return (comparison == .equal && value.isEmpty) || (comparison == .notEqual && !value.isEmpty) }
        switch comparison {
        case .equal: return isSame(cell, value) || numbers(cell, value).map { $0 == $1 } ?? false
        case .notEqual: return !isSame(cell, value) && numbers(cell, value).map { $0 != $1 } ?? true
        case .less: return numbers(cell, value).map { $0 < $1 } ?? (cell.plain < value)
        case .lessOrEqual: return numbers(cell, value).map { $0 <= $1 } ?? (cell.plain <= value)
        case .greater: return numbers(cell, value).map { $0 > $1 } ?? (cell.plain > value)
        case .greaterOrEqual: return numbers(cell, value).map { $0 >= $1 } ?? (cell.plain >= value)
        }
    }

    /// Names match in any case.
    private func isSame(_ cell: CellValue, _ value: String) -> Bool {
        cell.plain == value || cell.plain.lowercased() == value.lowercased()
    }

    private func numbers(_ cell: CellValue, _ value: String) -> (Double, Double)? {
        guard let left = Double(cell.plain), let right = Double(value) else { return nil }
        return (left, right)
    }
}

extension ColumnComparison {
    fileprivate func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }
}
