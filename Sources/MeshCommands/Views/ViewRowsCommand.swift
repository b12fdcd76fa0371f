import ArgumentParser
import Foundation
import MeshViews
import ViewQuery

struct ViewRowsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rows", abstract: "The rows of any view, with all of their columns.",
        discussion: """
              meshledger view
              meshledger view positions --where 'node=!7efeee00' --where 'time>=yesterday' --sort time --reverse --limit 5
              meshledger view nodes --where 'longName~harbour' --columns number,longName --format csv
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @Argument(help: ArgumentHelp("The view; without one, where each of them stands.", valueName: "view")) var view: String?
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only rows for which it holds; =, !=, <, <=, >, >=, ~ (contains). Several must all hold.", valueName: "column=value"))
    var conditions: [RowCondition] = []
    @Option(help: ArgumentHelp("Only these columns, in this order.", valueName: "names")) var columns: String?
    @Option(help: ArgumentHelp("In the order of this column, instead of the key's.", valueName: "column")) var sort: String?
    @Flag(help: "In the reverse order.") var reverse = false
    @Option(help: ArgumentHelp("The most rows.", valueName: "count")) var limit: Int?
    @Option(help: ArgumentHelp("Rows to leave out first.", valueName: "count")) var offset = 0

    func validate() throws {
        if offset < 0 || (limit ?? 0) < 0 { throw ValidationError("limit and offset are not negative") }
        if view == nil, !conditions.isEmpty || columns != nil || sort != nil {
            throw ValidationError("name the view whose rows are asked for")
        }
    }

    func run() async throws {
        try await ledger.reading(past) { ledger in
            guard let view else { return try await ViewListCommand.write(ledger, output) }
            guard let rows = ledger.rows(of: view) else {
                let known = ledger.rowNames.joined(separator: ", ")
                if ledger.viewNames.contains(view) {
                    throw CommandError(
                        .usage, "the view \(view) is an index without rows of its own, which `meshledger \(view)` asks")
                }
                throw CommandError(.noInput, "there is no view \(view); there are \(known)")
            }
            try write(rows, ledger)
        }
    }

    private func write<Row: QueryRow>(_ rows: Row.Type, _ ledger: Ledger) throws {
        var (parts, filters): ([RowColumn<Row>.Condition], [(Row) -> Bool]) = ([], [])
        for condition in conditions {
            let column = try Self.column(condition.column, of: rows)
            let value = try condition.value(column.kind, in: ledger)
            if let comparison = condition.comparison, let part = column.condition(comparison, value) {
                parts.append(part)
            } else {
                filters.append { condition.holds(GenericCell.value(column.value(in: $0), column.kind), value) }
            }
        }
        var descriptor = FetchDescriptor<Row>(all: parts)
        let order = try sort.map { try Self.column($0, of: rows) } ?? Row.columns.first
        if let order, sort != nil || reverse {
            guard let descriptorOrder = order.order(reverse ? .reverse : .forward) else {
                throw CommandError(.usage, "the rows of \(Row.view) cannot be sorted by \(order.name)")
            }
            descriptor.sortBy = [descriptorOrder]
        }
        if filters.isEmpty {
            (descriptor.fetchLimit, descriptor.fetchOffset) = (limit, offset)
        }
        let writer = output.writer(try shown(rows))
        var (skipped, left) = (0, limit ?? .max)
        for row in try ledger.fetch(descriptor) where filters.allSatisfy({ $0(row) }) {
            if !filters.isEmpty {
                guard skipped >= offset else {
                    skipped += 1
                    continue
                }
                guard left > 0 else { break }
                left -= 1
            }
            writer.write(row)
        }
        writer.finish(emptyNote: "no rows")
    }

    private func shown<Row: QueryRow>(_ rows: Row.Type) throws -> [Column<Row>] {
        let chosen = try columns.map { names in
            try names.split(separator: ",").map { try Self.column(String($0), of: rows) }
        }
        return (chosen ?? Row.columns).map { column in
            let name = GenericCell.name(column.name)
            return Column(name, unit: GenericCell.unit(column.kind), canCut: column.valueType == String.self) {
                GenericCell.value(column.value(in: $0), column.kind)
            }
        }
    }

    private static func column<Row: QueryRow>(_ name: String, of rows: Row.Type) throws -> RowColumn<Row> {
        let wanted = GenericCell.plain(name)
        if let column = Row.columns.first(where: { GenericCell.plain($0.name) == wanted }) { return column }
        let known = Row.columns.map { GenericCell.name($0.name) }.joined(separator: ", ")
        throw CommandError(.usage, "the rows of \(Row.view) have no column \(name); they have \(known)")
    }
}
