import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
import ViewQuery

struct ViewRowsCommand: AsyncParsableCommand, ShowsTimes {
    static let configuration = CommandConfiguration(
        commandName: "rows", abstract: "The rows of any view, with all of their columns.",
        discussion: """
            The columns of lists and exports come first, with the same names and values, then all other properties.

              meshledger view
              meshledger view positions --where 'node=!19025c00' --where 'time>=yesterday' --sort time --reverse --limit 5
              meshledger view nodes --where 'longName~harbour' --columns number,longName --format csv
              meshledger view nodes --having 'positions>=5' --lacking sentMessages
              meshledger view positions --also hill.ledger --sort time --reverse --limit 5
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @Option(
        help: ArgumentHelp("Another ledger whose rows are also shown; may be repeated.", valueName: "folder"),
        completion: .directory)
    var also: [String] = []
    @Argument(
        help: ArgumentHelp("The view; without one, the state of each.", valueName: "view"), completion: NameCompletion.views)
    var view: String?
    @OptionGroup var selection: RowSelection
    @Option(
        name: .customLong("columns"), help: ArgumentHelp("Only these columns, in this order.", valueName: "names"),
        completion: NameCompletion.columns)
    var names: String?
    @Flag(help: "Only stored columns, under their own names, and enumerations as numbers.") var raw = false
    @Option(
        help: ArgumentHelp("Sort by this column instead of the key.", valueName: "column"),
        completion: NameCompletion.columns)
    var sort: String?
    @Flag(help: "Reverse the order.") var reverse = false
    @Flag(help: "Archived ones, too.") var archived = false
    @Option(parsing: .unconditional, help: ArgumentHelp("The most rows.", valueName: "count")) var limit: Int?
    @Option(parsing: .unconditional, help: ArgumentHelp("How many rows to skip.", valueName: "count")) var offset = 0

    func validate() throws {
        try PageOptions.check(limit: limit, offset: offset)
        if view == nil, !selection.isEmpty || names != nil || sort != nil || !also.isEmpty {
            throw ValidationError("name the view whose rows to show")
        }
        if past.asOf != nil, !also.isEmpty { throw ValidationError("--as-of is of one ledger") }
    }

    func run() async throws {
        try await ledger.reading(past) { ledger in
            guard let view else { return try await ViewListCommand.write(ledger, output) }
            let name = try ledger.view(named: view)
            guard let rows = ledger.rows(of: name) else {
                throw CommandError(
                    .usage, "the view \(name) is an index without rows of its own, which `meshledger \(name)` asks")
            }
            try await withOthers(also[...], [ledger]) { try write(rows, $0) }
        }
    }

    private func withOthers(_ paths: ArraySlice<String>, _ opened: [Ledger], _ body: ([Ledger]) throws -> Void) async throws {
        guard let path = paths.first else { return try body(opened) }
        var option = ledger
        option.ledger = path
        try await option.reading { try await withOthers(paths.dropFirst(), opened + [$0], body) }
    }

    private func write<Row: QueryRow>(_ rows: Row.Type, _ ledgers: [Ledger]) throws {
        guard let ledger = ledgers.first else { return }
        // For several ledgers, only the row's own columns.
        let columns =
            raw || !also.isEmpty
            ? GenericCell.columns(rows, isRaw: raw) : try GenericCell.allColumns(rows, in: ledger)
        let named = (names ?? "").split(separator: ",").map(String.init) + (sort.map { [$0] } ?? [])
        let all = columns + (raw || !also.isEmpty ? [] : try GenericCell.furtherColumns(rows, in: ledger, named: named))
        let shown = try names.map { try all.named(list: $0) } ?? columns
        var (descriptor, filters, check) = try selection.query(rows, in: ledger)
        descriptor.includesArchived = archived
        let order =
            sort.map { sort in Row.columns.first { GenericCell.plain($0.name) == GenericCell.plain(sort) } } ?? Row.columns.first
        let sortedHere = try order == nil && sort != nil ? all.named(sort ?? "") : nil
        if let order, sort != nil || reverse {
            guard let descriptorOrder = order.order(reverse ? .reverse : .forward) else {
                throw CommandError(.usage, "the rows of \(Row.table) cannot be sorted by \(order.name)")
            }
            descriptor.sortBy = [descriptorOrder]
        }
        let isPaged = filters.isEmpty && sortedHere == nil
        if isPaged { (descriptor.fetchLimit, descriptor.fetchOffset) = (limit, offset) }
        typealias Found = LedgerUnion.Found<Row>
        let origin = Column<Found>("ledger", canCut: true) { .text($0.ledger.path) }
        let writer = try output.writer(
            (also.isEmpty ? [] : [origin]) + shown.map { $0.of { (found: Found) in found.row } }, keepsOrder: names != nil)
        var found = try Ledger.union(ledgers).fetch(descriptor)
        if let sortedHere {
            found.sort { sortedHere.value($0.row).precedes(sortedHere.value($1.row), reverse: reverse) }
        }
        var (skipped, left) = (0, limit ?? .max)
        for found in found where filters.allSatisfy({ $0(found.row) }) {
            if !isPaged {
                guard skipped >= offset else {
                    skipped += 1
                    continue
                }
                guard left > 0 else { break }
                left -= 1
            }
            writer.write(found)
        }
        try check()
        writer.finish(emptyNote: "no rows")
    }
}
