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
        descriptor.conditions += try relations.amounts.map { try ledger.condition($0, on: rows) }
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
        guard column.kind == .time else { return column.condition(comparison, value) }
        // Half a second counts in a test, not in the store; a day that is equal begins there.
        return column.condition([.less: .lessOrEqual, .equal: .greaterOrEqual][comparison] ?? comparison, value)
    }

    /// The stored column whose order is that of the values that commands show.
    static func stored<Row: QueryRow>(_ name: String, of rows: Row.Type) -> RowColumn<Row>? {
        guard let column = Row.columns.first(where: { GenericCell.plain($0.name) == GenericCell.plain(name) }),
            GenericCell.names(column.name, of: rows) == nil
        else { return nil }
        let isShownAsStored = !(rows is any ShownRow.Type) && !column.kind.isScaled
        return isShownAsStored || column.isKey || column.kind == .node || column.kind == .time ? column : nil
    }

    /// A stored column.
    static func column<Row: QueryRow>(_ name: String, of rows: Row.Type) throws -> RowColumn<Row> {
        let wanted = GenericCell.plain(name)
        if let column = Row.columns.first(where: { GenericCell.plain($0.name) == wanted }) { return column }
        let known = Row.columns.map { $0.name.snakeCased }.joined(separator: ", ")
        throw CommandError(.usage, "the rows of \(Row.table) have no column \(name); they have \(known)")
    }
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
