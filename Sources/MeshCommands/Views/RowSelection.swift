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

    /// The query, and the conditions that it cannot express.
    ///
    /// - Returns: also a check that throws if a condition could not be compared with its column.
    func query<Row: QueryRow>(
        _ rows: Row.Type, in ledger: Ledger
    ) throws -> (descriptor: FetchDescriptor<Row>, filters: [(Row) -> Bool], check: () throws -> Void) {
        var (parts, filters): ([RowColumn<Row>.Condition], [(Row) -> Bool]) = ([], [])
        let listed =
            conditions.isEmpty
            ? []
            : try (GenericCell.shownColumns(rows, in: ledger) ?? [])
                + GenericCell.furtherColumns(rows, in: ledger, named: conditions.map(\.column))
        var others: [RowTests<Row>] = []
        for condition in conditions {
            let wanted = GenericCell.plain(condition.column)
            let declared = Row.columns.first { GenericCell.plain($0.name) == wanted }
            let byName = listed.first { GenericCell.plain($0.name) == wanted }
            let shown = declared == nil ? byName ?? (try? listed.named(condition.column)) : byName  // refused below
            // Columns that only lists have, or that show names instead of the stored values.
            if let shown, declared == nil || shown.names != nil {
                let tests = try RowTests([condition], [shown], in: ledger)
                others.append(tests)
                filters.append(tests.hold)
                continue
            }
            let column = try declared ?? Self.column(condition.column, of: rows, in: ledger)
            let names = condition.isAboutNames ? GenericCell.names(column.name, of: rows) : nil
            let number = try names?.number(of: condition.text, in: column.name.snakeCased)
            let value = try number.map(String.init) ?? condition.value(column.kind, in: ledger)
            // Values that are displayed in other units than stored are compared as displayed.
            if !column.kind.isScaled, let comparison = condition.comparison, let part = column.condition(comparison, value) {
                parts.append(part)
            } else {
                filters.append { condition.holds(CellValue(of: column.value(in: $0), column.kind), value) }
            }
        }
        var descriptor = FetchDescriptor<Row>(all: parts)
        for amount in relations.amounts {
            descriptor.conditions.append(try Self.condition(amount, rows))
        }
        return (descriptor, filters, { for tests in others { try tests.check() } })
    }

    /// The rows themselves.
    func rows<Row: QueryRow>(_ rows: Row.Type, in ledger: Ledger, archived: Bool) throws -> [Row] {
        var (descriptor, filters, check) = try query(rows, in: ledger)
        descriptor.includesArchived = archived
        let found = try ledger.fetch(descriptor).filter { row in filters.allSatisfy { $0(row) } }
        try check()
        return found
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

    private static func column<Row: QueryRow>(_ name: String, of rows: Row.Type, in ledger: Ledger) throws -> RowColumn<Row> {
        let known = try GenericCell.allColumns(rows, in: ledger).map(\.name).joined(separator: ", ")
        throw CommandError(.usage, "the rows of \(Row.table) have no column \(name); they have \(known)")
    }
}

/// Selects rows by the number of their related rows.
struct RelationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only rows with related rows by this relation, or with this many: positions, positions>=5.", valueName: "relation"))
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
struct RelationAmount: ExpressibleByArgument {
    let relation: String
    let count: ClosedRange<Int>

    init(_ relation: String, _ count: ClosedRange<Int>) { (self.relation, self.count) = (relation, count) }

    init?(argument: String) {
        guard let start = argument.firstIndex(where: { "=<>".contains($0) }) else {
            self.init(argument, 1...Int.max)
            return
        }
        let sign = String(argument[start...].prefix { "=<>".contains($0) })
        guard let number = Int(argument[start...].dropFirst(sign.count)), number >= 0, start > argument.startIndex else {
            return nil
        }
        let name = String(argument[..<start])
        switch sign {
        case "=": self.init(name, number...number)
        case ">=": self.init(name, number...Int.max)
        case ">" where number < .max: self.init(name, number + 1...Int.max)
        case "<=": self.init(name, 0...number)
        case "<" where number > 0: self.init(name, 0...number - 1)
        default: return nil
        }
    }
}
