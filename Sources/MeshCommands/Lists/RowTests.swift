import EventLog
import MeshLedger
import MeshTables
import Meshtastic
import ViewQuery

/// What the column `reception` has of an event that came live.
private let live = "live"

/// Tests rows of a list by the conditions of `--where`.
///
/// Of some columns only a row's value shows whether they have numbers: the first that cannot be compared with the condition becomes the fault, and no further row passes. A condition on a time
/// takes no row of which only the time of the import is known, as --since and --until do not.
final class RowTests<Row> {
    private struct Test {
        let column: Column<Row>
        let condition: RowCondition
        let value: String
        /// Of a condition with `~`.
        let pattern: TextPattern?
        /// Of a condition on a time.
        let time: (start: Timestamp, end: Timestamp?)?
        /// That the rows must have.
        let node: UInt32?
    }

    let columns: [String]
    private let tests: [Test]
    /// Of columns with conditions on the time: whether only that of the import is known.
    private let timed: [(Row) -> Bool]
    private(set) var fault: CommandError?
    /// How many rows were left out since only the time of their import is known.
    private(set) var leftOut: UInt64 = 0
    private let ledger: Ledger

    /// - Parameter type: the rows' own type, where they come as any rows.
    init(_ conditions: [RowCondition], _ columns: [Column<Row>], of type: Any.Type = Row.self, in ledger: Ledger) throws {
        tests = try conditions.map { condition in
            let column = try columns.named(condition.column)
            guard !condition.text.isEmpty || condition.canBeEmpty else {
                throw CommandError(
                    .usage, "\(column.name)\(condition.sign) lacks a value, as in \(column.name)\(condition.sign)20")
            }
            let kind = column.isAge ? .plain : Self.kind(of: column.name, in: type)
            let isLive = column.name == "reception" && condition.text.lowercased() == live
            let value = isLive ? live : try Self.value(condition, column, kind, of: type, ledger)
            let time = isLive ? nil : try condition.time(kind)
            if condition.comparison != nil, !value.isEmpty { try Self.check(value, condition, column) }
            return Test(
                column: column, condition: condition, value: value,
                pattern: condition.comparison == nil ? TextPattern(value) : nil, time: time.map { ($0.time, $0.end) },
                node: kind == .node && condition.comparison == .equal ? NodeID.parse(value) : nil)
        }
        self.columns = tests.map(\.column.name)
        timed = Self.timed(tests)
        self.ledger = ledger
    }

    private init(_ tests: [Test], _ ledger: Ledger) {
        (self.tests, self.ledger) = (tests, ledger)
        timed = Self.timed(tests)
        columns = tests.map(\.column.name)
    }

    private static func timed(_ tests: [Test]) -> [(Row) -> Bool] {
        tests.compactMap { $0.time != nil && $0.condition.comparison != .notEqual ? $0.column.isOfImport : nil }
    }

    /// The same tests of another ledger's rows.
    /// - Parameter columns: as that ledger has them.
    func with(_ columns: [Column<Row>]) -> RowTests {
        RowTests(
            tests.map { test in
                Test(
                    column: columns.first { $0.name == test.column.name } ?? test.column, condition: test.condition,
                    value: test.value, pattern: test.pattern, time: test.time, node: test.node)
            }, ledger)
    }

    /// The value as the column prints it.
    private static func value(
        _ condition: RowCondition, _ column: Column<Row>, _ kind: ColumnKind, of type: Any.Type, _ ledger: Ledger
    ) throws -> String {
        if column.isAge { return try condition.seconds(of: column.name) }
        if condition.isAboutNames {
            if let names = column.names { return try names.name(for: condition.text, of: column.name) }
            if column.name == "channel", hasLabels(type) { return try ledger.channel(named: condition.text) ?? condition.text }
        }
        return try condition.printedValue(kind, in: ledger)
    }

    /// - Throws: a `CommandError` with 64 for a value of which the column's type says that no row has such a one.
    private static func check(_ value: String, _ condition: RowCondition, _ column: Column<Row>) throws {
        switch column.type {
        case .int32, .int64, .uint32, .uint64, .float32, .float64:
            guard Double(value) == nil, NodeID.parse(value) == nil, column.names == nil else { return }
            throw refusal(of: value, column, "a number, as in \(column.name)\(condition.sign)20")
        case .bool where flags[value.lowercased()] == nil: throw refusal(of: value, column, "true or false")
        case .list where !condition.canBeEmpty:
            throw CommandError(
                .usage, "\(column.name) is a list, whose entries are found by =, != and ~, not by \(condition.sign)")
        default: return
        }
    }

    /// Whether its channels are those of the lists; a row of a custom view has what it likes.
    private static func hasLabels(_ type: Any.Type) -> Bool { type is any ShownRow.Type || !(type is any QueryRow.Type) }

    func hold(_ row: Row) -> Bool {
        guard fault == nil, tests.allSatisfy({ holds($0, row) }) else { return false }
        guard timed.contains(where: { $0(row) }) else { return true }
        leftOut += 1
        return false
    }

    private func holds(_ test: Test, _ row: Row) -> Bool {
        let (column, condition, value) = (test.column, test.condition, test.value)
        let cell = column.value(row)
        if let pattern = test.pattern { return pattern.matches(cell.plain) }
        guard !value.isEmpty else { return condition.holds(cell, value) }
        if let time = test.time, let heard = cell.time { return condition.holds(heard, time.start, end: time.end) }
        switch cell {
        case .unsigned where value.hasPrefix("!"):
            return condition.holds(cell, NodeID.parse(value).map { String($0) } ?? value)
        case .integer, .unsigned, .double, .float:
            if Double(value) == nil {
                fault = Self.refusal(of: value, column, "a number, as in \(column.name)\(condition.sign)20")
            }
        case .bool:
            guard let flag = Self.flags[value.lowercased()] else {
                fault = Self.refusal(of: value, column, "true or false")
                break
            }
            return condition.holds(cell, flag ? "true" : "false")
        case .text(let text) where value == MessageRow.failed && text.hasPrefix(value + ":"):
            return condition.holds(.text(value), value)
        default: break
        }
        return fault == nil && condition.holds(cell, value)
    }

    private static var flags: [String: Bool] { ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false] }

    private static func refusal(of value: String, _ column: Column<Row>, _ wanted: String) -> CommandError {
        CommandError(.usage, "'\(value)' cannot be compared with \(column.name): it takes \(wanted)")
    }

    /// Why no row passes, where a condition names a node of which nothing was ever heard.
    var unknown: CommandError? {
        get throws {
            let nodes = tests.compactMap(\.node).filter { $0 != 0 && $0 != NodeID.broadcast }
            return try CommandError.unheard(nodes, in: ledger)
        }
    }

    /// - Throws: the fault, if there was one.
    func check() throws {
        if let fault { throw fault }
    }

    /// What the values of a column mean, as the row declares it, or as the name of a computed one says.
    private static func kind(of name: String, in type: Any.Type) -> ColumnKind {
        func declared<Declared: QueryRow>(_ row: Declared.Type) -> ColumnKind? {
            row.columns.first { GenericCell.plain($0.name) == GenericCell.plain(name) }?.kind
        }
        let row = type is ReportedNode.Type ? NodeRow.self : type as? any QueryRow.Type
        if let row, let kind = declared(row) { return kind }
        if ["node", "neighbor", "from", "to", "gateway", "gateways"].contains(name) { return .node }
        let isTime =
            ["time", "arrival", "reception", "heard"].contains(name)
            || ["_time", "_heard", "_at"].contains { name.hasSuffix($0) }
        return isTime ? .time : .plain
    }
}

extension RowTests {
    /// What conditions on times have left out.
    func reportLeftOut(isEmpty: Bool) {
        guard leftOut > 0, LeftOutRows.isWorthReporting(isEmpty: isEmpty) else { return }
        LeftOutRows(noun: "row", count: leftOut, advice: LeftOutRows.withoutCondition).report()
    }
}
