import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
import ViewQuery

/// Selects rows of a view.
struct RowSelection: ParsableArguments {
    @OptionGroup var chosen: ConditionOptions
    @OptionGroup var relations: RelationOptions

    var conditions: [RowCondition] { chosen.conditions }

    var isEmpty: Bool { conditions.isEmpty && relations.isEmpty }

    /// Tests rows by what commands show of them, so that a condition means the same in `view` as in lists and exports.
    func tests<Row: QueryRow>(_ rows: Row.Type, in ledger: Ledger) throws -> RowTests<Row> {
        try RowTests(conditions, columns(rows, in: ledger), in: ledger)
    }

    /// The same for the rows of each of several ledgers. Nodes that conditions name are those of the first one.
    func tests<Row: QueryRow>(_ rows: Row.Type, in ledgers: [Ledger]) throws -> [RowTests<Row>] {
        guard let ledger = ledgers.first else { return [] }
        let first = try tests(rows, in: ledger)
        return [first] + (try ledgers.dropFirst().map { first.with(try columns(rows, in: $0)) })
    }

    private func columns<Row: QueryRow>(_ rows: Row.Type, in ledger: Ledger) throws -> [Column<Row>] {
        let named = try GenericCell.furtherColumns(rows, in: ledger, named: conditions.map(\.column))
        return try GenericCell.allColumns(rows, in: ledger) + named
    }

    /// What the store can choose by: it finds at least the rows that pass the tests.
    func descriptor<Row: QueryRow>(_ rows: Row.Type, in ledger: Ledger) throws -> FetchDescriptor<Row> {
        var descriptor = FetchDescriptor<Row>(all: try conditions.compactMap { try Self.bound($0, rows, in: ledger) })
        descriptor.conditions += try relations.amounts.map { try Self.condition($0, rows) }
        return descriptor
    }

    /// The rows themselves.
    func rows<Row: QueryRow>(_ rows: Row.Type, in ledger: Ledger, archived: Bool) throws -> [Row] {
        let tests = try tests(rows, in: ledger)
        var descriptor = try descriptor(rows, in: ledger)
        descriptor.includesArchived = archived
        let found = try ledger.fetch(descriptor).filter(tests.hold)
        try tests.check()
        return found
    }

    /// The condition on the stored value; nil where that is not what commands show: a zero for an unknown value, a number for a name, a text in another case.
    private static func bound<Row: QueryRow>(
        _ condition: RowCondition, _ rows: Row.Type, in ledger: Ledger
    ) throws -> RowColumn<Row>.Condition? {
        guard let comparison = condition.comparison, comparison != .notEqual, !condition.text.isEmpty,
            let column = stored(condition.column, of: rows), column.valueType is any FixedWidthInteger.Type
        else { return nil }
        let value = try condition.value(column.kind, in: ledger)
        // Half a second counts in a test, not in the store.
        return column.condition(column.kind == .time && comparison == .less ? .lessOrEqual : comparison, value)
    }

    /// The stored column whose order is that of the values that commands show.
    static func stored<Row: QueryRow>(_ name: String, of rows: Row.Type) -> RowColumn<Row>? {
        guard let column = Row.columns.first(where: { GenericCell.plain($0.name) == GenericCell.plain(name) }),
            GenericCell.names(column.name, of: rows) == nil
        else { return nil }
        let isShownAsStored = !(rows is any ShownRow.Type) && !column.kind.isScaled
        return isShownAsStored || column.isKey || column.kind == .node || column.kind == .time ? column : nil
    }

    private static func condition<Row: QueryRow>(
        _ amount: RelationAmount, _ rows: Row.Type
    ) throws -> ViewQuery.RowCondition<Row> {
        guard let related = rows as? any RelatedRow.Type else {
            throw CommandError(.usage, "the rows of \(Row.table) have no relations")
        }
        func find<Related: RelatedRow>(_ type: Related.Type) throws -> ViewQuery.RowCondition<Row> {
            let found = Related.condition(
                onRelation: amount.relation, atLeast: amount.count.lowerBound, atMost: amount.count.upperBound)
            guard let condition = found as? ViewQuery.RowCondition<Row> else {
                let known = Related.relations.map(\.name).joined(separator: ", ")
                throw CommandError(.usage, "the rows of \(Row.table) have no relation \(amount.relation); they have \(known)")
            }
            return condition
        }
        return try find(related)
    }

    /// A stored column.
    static func column<Row: QueryRow>(_ name: String, of rows: Row.Type) throws -> RowColumn<Row> {
        let wanted = GenericCell.plain(name)
        if let column = Row.columns.first(where: { GenericCell.plain($0.name) == wanted }) { return column }
        let known = Row.columns.map { $0.name.snakeCased }.joined(separator: ", ")
        throw CommandError(.usage, "the rows of \(Row.table) have no column \(name); they have \(known)")
    }
}

/// Selects rows by the number of their related rows.
struct RelationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only rows with related rows by this relation, or with this many: positions, positions>=5.", valueName: "relation"),
        transform: RelationAmount.parsed)
    var having: [RelationAmount] = []
    @Option(help: ArgumentHelp("Only rows without related rows by this relation.", valueName: "relation")) var lacking: [String] =
        []

    var isEmpty: Bool { having.isEmpty && lacking.isEmpty }

    var amounts: [RelationAmount] { having + lacking.map { RelationAmount($0, 0...0) } }
}

extension RowSelection {
    /// A selection that is not typed as such.
    init(_ conditions: [RowCondition], _ relations: RelationOptions? = nil) {
        self.init()
        (chosen, self.relations) = (ConditionOptions(), RelationOptions())
        chosen.conditions = conditions
        (self.relations.having, self.relations.lacking) = (relations?.having ?? [], relations?.lacking ?? [])
    }
}

/// A relation, and the required number of related rows: `positions`, `positions>=5`, `positions=0`.
struct RelationAmount {
    let relation: String
    let count: ClosedRange<Int>

    init(_ relation: String, _ count: ClosedRange<Int>) { (self.relation, self.count) = (relation, count) }

    /// - Throws: an error that says which forms are accepted.
    static func parsed(_ text: String) throws -> RelationAmount {
        let signs = "=<>!"
        let name = text.prefix { !signs.contains($0) }
        let sign = text.dropFirst(name.count).prefix { signs.contains($0) }
        let number = text.dropFirst(name.count + sign.count).trimmingCharacters(in: .whitespaces)
        let relation = name.trimmingCharacters(in: .whitespaces)
        guard !relation.isEmpty, let count = count(sign, number) else {
            throw ValidationError("it takes a relation, or one with =, >=, >, <= or < and a number, such as positions>=5")
        }
        return RelationAmount(relation, count)
    }

    private static func count(_ sign: Substring, _ text: String) -> ClosedRange<Int>? {
        if sign.isEmpty { return text.isEmpty ? 1...Int.max : nil }
        guard let number = Int(text), number >= 0 else { return nil }
        switch sign {
        case "=": return number...number
        case "!=" where number == 0: return 1...Int.max
        case ">=": return number...Int.max
        case ">" where number < .max: return number + 1...Int.max
        case "<=": return 0...number
        case "<" where number > 0: return 0...number - 1
        default: return nil
        }
    }
}
