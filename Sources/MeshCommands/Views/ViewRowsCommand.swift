import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
import ViewQuery

struct ViewRowsCommand: AsyncParsableCommand, ShowsTimes {
    static let configuration = CommandConfiguration(
        commandName: "rows", abstract: "The rows of any view, with all of their columns.",
        discussion: """
            The columns of lists and exports come first, with the same names and values, then all other properties. --since and --until
            choose stored rows by their time; for gateways, the list and the export instead count what was passed on between these times.

              meshledger view
              meshledger view positions --where 'node=!19025c00' --where 'time>=yesterday' --sort time --reverse --limit 5
              meshledger view nodes --where 'longName~harbour' --columns number,longName --format csv
              meshledger view nodes --having 'positions>=5' --lacking sentMessages
              meshledger view positions --also hill.ledger --sort time --reverse --limit 5
              meshledger view positions --since 'yesterday' --count-by node,hour
            """)

    @OptionGroup var options: ListOptions
    @Option(
        help: ArgumentHelp("Another ledger whose rows are also shown; may be repeated.", valueName: "folder"),
        completion: .directory)
    var also: [String] = []
    @Argument(
        help: ArgumentHelp("The view; without one, the state of each.", valueName: "view"), completion: NameCompletion.views)
    var view: String?
    @OptionGroup var relations: RelationOptions
    @Flag(help: "Only stored columns, under their own names, and enumerations as numbers.") var raw = false
    @Flag(help: "Archived ones, too.") var archived = false

    var output: OutputOptions { options.output }

    func validate() throws {
        let choosesRows = options.choosesRows || options.columns != nil || !relations.isEmpty
        if view == nil, choosesRows || !also.isEmpty { throw ValidationError("name the view whose rows to show") }
        if options.past.asOf != nil, !also.isEmpty { throw ValidationError("--as-of is of one ledger") }
    }

    func run() async throws {
        try await options.ledger.reading(options.past) { ledger in
            guard let view else { return try await ViewListCommand.write(ledger, output) }
            let name = try ledger.view(named: view)
            guard let rows = ledger.rows(of: name) else {
                throw CommandError(
                    .usage, "\(name) is an index without rows of its own; use `meshledger \(name)`")
            }
            try await withOthers(also[...], [ledger]) { try write(rows, $0) }
        }
    }

    private func withOthers(_ paths: ArraySlice<String>, _ opened: [Ledger], _ body: ([Ledger]) throws -> Void) async throws {
        guard let path = paths.first else { return try body(opened) }
        var option = options.ledger
        option.ledger = path
        try await option.reading { try await withOthers(paths.dropFirst(), opened + [$0], body) }
    }

    private func write<Row: QueryRow>(_ rows: Row.Type, _ ledgers: [Ledger]) throws {
        guard let ledger = ledgers.first else { return }
        let columnsOfEach = try ledgers.map { try allColumns(rows, in: $0) }
        let columns = columnsOfEach[0]
        let time = Self.time(of: rows, columns)
        let conditions = try options.conditions + conditionsOfTime(time?.name)
        let selection = RowSelection(conditions, relations)
        let testsOfEach = try selection.tests(rows, in: ledgers)
        var descriptor = try selection.descriptor(rows, in: ledger)
        descriptor.includesArchived = archived
        var options = options
        options.chosen.conditions = []
        if !options.groups.isGiven { sort(&descriptor, &options, by: time?.name) }
        typealias Found = LedgerUnion.Found<Row>
        func place(_ found: Found) -> Int { ledgers.firstIndex { $0 === found.ledger } ?? 0 }
        let origin = Column<Found>("ledger", canCut: true) { .text($0.ledger.path) }
        if !also.isEmpty, let names = options.columns { options.columns = "\(origin.name),\(names)" }
        let all =
            (also.isEmpty ? [] : [origin])
            + columns.indices.map { index in
                var column = columns[index].of { (found: Found, use) in use(found.row) }
                column.isOnRequest = columns[index].isOnRequest
                guard ledgers.count > 1 else { return column }
                // Names differ from ledger to ledger.
                column.value = { columnsOfEach[place($0)][index].value($0.row) }
                if column.shown != nil { column.shown = { columnsOfEach[place($0)][index].shown?($0.row) } }
                return column
            }
        var isEmpty = true
        defer { testsOfEach.forEach { $0.reportLeftOut(isEmpty: isEmpty) } }
        try ListRequest(ledger: ledger, options: options).writeWhileWanted(all, emptyNote: "no rows", time: time?.name) {
            query, body in
            var page = Page()
            if conditions.isEmpty {
                (descriptor.fetchLimit, descriptor.fetchOffset) = (query.limit == .max ? nil : query.limit, query.offset)
            } else {
                page = Page(query)
            }
            try Self.visit(descriptor, ledgers) { found in
                let tests = testsOfEach[place(found)]
                guard tests.hold(found.row) else { return tests.fault == nil }
                isEmpty = false
                return page.pass { body(found) }
            }
            try testsOfEach.forEach { try $0.check() }
        }
    }

    private func allColumns<Row: QueryRow>(_ rows: Row.Type, in ledger: Ledger) throws -> [Column<Row>] {
        raw
            ? GenericCell.columns(rows, isRaw: true)
            : try GenericCell.allColumns(rows, in: ledger)
                + GenericCell.furtherColumns(rows, in: ledger, named: options.mentioned)
    }

    /// Passes rows to `body` until it returns false; those of one ledger are read in batches.
    private static func visit<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>, _ ledgers: [Ledger], _ body: (LedgerUnion.Found<Row>) -> Bool
    ) throws {
        guard ledgers.count == 1, let ledger = ledgers.first else {
            _ = try Ledger.union(ledgers).fetch(descriptor).allSatisfy(body)
            return
        }
        var batches = try QueryBatches(descriptor, size: 64, ledger)
        while let rows = try ledger.next(&batches), rows.allSatisfy({ body(.init(ledger: ledger, row: $0)) }) {
            batches.size = min(5_000, batches.size * 2)
        }
    }

    /// The column by which the rows are chosen by time.
    private static func time<Row: QueryRow>(of rows: Row.Type, _ columns: [Column<Row>]) -> Column<Row>? {
        let declared = Row.columns.first { $0.kind == .time }.map { GenericCell.plain($0.name) }
        return columns.time() ?? columns.first { GenericCell.plain($0.name) == declared }
    }

    /// `--since` and `--until`.
    private func conditionsOfTime(_ column: String?) throws -> [RowCondition] {
        let times = [(ColumnComparison.greaterOrEqual, options.times.since), (.less, options.times.until)]
        return try times.compactMap { comparison, time in
            guard let time else { return nil }
            guard let column else { throw CommandError(.usage, "these rows have no time") }
            return RowCondition(column, comparison, ISO8601.text(microseconds: time.time.microseconds))
        }
    }

    /// Lets the store sort the rows where it can.
    private func sort<Row: QueryRow>(_ descriptor: inout FetchDescriptor<Row>, _ options: inout ListOptions, by time: String?) {
        let key = Row.columns.first { $0.isKey && $0.order(.forward) != nil }?.name
        guard let name = options.sort ?? (options.page.oldestFirst ? time : options.reverse ? key ?? time : nil) else { return }
        guard let order = RowSelection.stored(name, of: Row.self)?.order(options.reverse ? .reverse : .forward) else {
            options.sort = name
            return
        }
        descriptor.sortBy = [order]
        options.sort = nil
    }
}
