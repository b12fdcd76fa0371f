import ArgumentParser
import EventLog
import MeshLedger
import MeshTables
import ViewQuery

/// The options of every list.
struct ListOptions: ParsableArguments {
    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var chosen: ConditionOptions
    @Option(help: ArgumentHelp("Only these columns, in this order.", valueName: "names"), completion: NameCompletion.columns)
    var columns: String?
    @Option(help: ArgumentHelp("Sort by this column.", valueName: "column"), completion: NameCompletion.columns)
    var sort: String?
    @Flag(help: "Reverse the order.") var reverse = false
    @OptionGroup var groups: GroupOptions

    var conditions: [RowCondition] { chosen.conditions }

    func validate() throws {
        if groups.chart, groups.isOneLine, page.limit != nil || page.offset > 0 {
            throw ValidationError(
                "--limit and --offset choose among the lines or bars of a chart, and this one is a single line; --since and --until choose its times"
            )
        }
    }

    /// Without the page where rows are chosen or sorted here.
    var query: RowQuery {
        var query = page.query(times)
        if sort == nil, reverse { query.newestFirst.toggle() }
        if choosesRows { (query.limit, query.offset) = (.max, 0) }
        return query
    }

    /// One row more than is shown, to find out whether there are more.
    fileprivate var queryBeyond: RowQuery {
        var query = query
        if query.limit < .max { query.limit += 1 }
        return query
    }

    /// The columns by which rows are chosen or sorted, as they were typed.
    fileprivate var asked: [String] { conditions.map(\.column) + (sort.map { [$0] } ?? []) }

    /// Whether rows are chosen or sorted by the column.
    func names(_ column: String) -> Bool {
        asked.contains { GenericCell.plain($0) == GenericCell.plain(column) }
    }

    /// The columns that any of the options names, as they were typed.
    var mentioned: [String] {
        let shown = ((columns ?? "") + "," + (groups.countBy ?? "")).split(separator: ",").map(String.init)
        return asked + shown + groups.measures.map(\.column)
    }

    /// Whether the column is wanted that is made only on request: because an option names it, or because one names a column that none of
    /// these is, and the error lists what there is.
    func wants<Row>(_ column: String, beside others: [Column<Row>]) -> Bool {
        let columns = mentioned.filter { GroupOptions.spans[$0.lowercased()] == nil }
        return mentions(column) || columns.contains { (try? others.named($0)) == nil }  // no column has this name
    }

    /// Whether the column is named by any of the options.
    func mentions(_ column: String) -> Bool { mentioned.contains { GenericCell.plain($0) == GenericCell.plain(column) } }

    var choosesRows: Bool { !conditions.isEmpty || sort != nil || groups.isGiven }
}

/// A list that was requested, and how it is printed.
struct ListRequest {
    let ledger: Ledger
    var options: ListOptions
    /// Those that it is asked about.
    var nodes: [NodeArgument] = []
    /// The one that it is asked about.
    var packet: UInt32?

    var query: RowQuery { options.query }
    var isTable: Bool { options.output.format == .table }

    /// Prints the rows that a finder visits: those that the options choose, in their order, of their page; or counts them.
    /// - Parameter leftOut: what is in no window, of the rows that the options choose; nil to count the rows.
    func write<Row>(
        _ columns: [Column<Row>], emptyNote: String, leftOut: (((Row) -> Bool) throws -> LeftOutRows?)? = nil,
        _ visit: (RowQuery, (Row) -> Void) throws -> Void
    ) throws {
        let isOfImport = columns.time()?.isOfImport
        try writeWhileWanted(
            columns, emptyNote: emptyNote, total: { try countAll(of: Row.self, without: isOfImport, visit) },
            leftOut: { isChosen in
                if let leftOut { return try leftOut(isChosen) }
                guard query.hasTimes, let isOfImport else { return nil }
                return try withoutActuallyEscaping(isChosen) { isChosen in
                    try LeftOutRows.counted(query, visit) { isOfImport($0) && isChosen($0) }
                }
            }
        ) { query, body in
            try withoutActuallyEscaping(body) { body in try query.visitKnown(isOfImport, visit) { _ = body($0) } }
        }
    }

    /// How many rows there are on all pages; nil where counting would take long.
    private func countAll<Row>(
        of type: Row.Type, without isOfImport: ((Row) -> Bool)?, _ visit: (RowQuery, (Row) -> Void) throws -> Void
    ) throws -> UInt64? {
        func all<Declared: QueryRow>(_ type: Declared.Type) throws -> Int { try ledger.fetchCount(FetchDescriptor<Declared>()) }
        if let type = type as? any QueryRow.Type, try all(type) > 50_000 { return nil }
        var count: UInt64 = 0
        try options.query.unpaged.visitKnown(isOfImport, visit) { _ in count += 1 }
        return count
    }

    /// The same for a finder that stops when `body` returns false.
    ///
    /// - Parameters:
    ///   - time: the column that has the time of a row, by which counts take hours and days; nil to find it by its name.
    ///   - total: how many rows there are on all pages, where that is known at once; else nil.
    ///   - counted: rows that stand for many, by the names of the columns that are asked for, where these are known without reading each row; else nil.
    ///   - leftOut: what is in no window of times, of the rows that the options choose.
    func writeWhileWanted<Row>(
        _ columns: [Column<Row>], emptyNote: String, time: String? = nil,
        counted: (Set<String>) throws -> [(row: Row, count: UInt64)]? = { _ in nil },
        total: () throws -> UInt64? = { nil }, leftOut: ((Row) -> Bool) throws -> LeftOutRows? = { _ in nil },
        _ visit: (RowQuery, (Row) -> Bool) throws -> Void
    ) throws {
        try writeAny(
            columns.map(\.ofAnyRow), of: Row.self, emptyNote, time: time,
            counted: { try counted($0)?.map { (AnyRow($0.row), $0.count) } }, total: total,
            leftOut: { tests in try leftOut { tests.hold(AnyRow($0)) } }
        ) { query, body in
            try withoutActuallyEscaping(body) { body in try visit(query) { body(AnyRow($0)) } }
        }
    }

    /// - Parameter type: the rows' own type.
    private func writeAny(
        _ columns: [Column<AnyRow>], of type: Any.Type, _ emptyNote: String, time: String?,
        counted: (Set<String>) throws -> [(row: AnyRow, count: UInt64)]?,
        total: () throws -> UInt64?, leftOut: (RowTests<AnyRow>) throws -> LeftOutRows?,
        _ visit: (RowQuery, (AnyRow) -> Bool) throws -> Void
    ) throws {
        let tests = try RowTests(options.conditions, columns, of: type, in: ledger)
        // Also before an error that nothing was found.
        var isEmpty = true
        defer {
            if tests.fault == nil { tests.reportLeftOut(isEmpty: isEmpty) }
            if tests.fault == nil, LeftOutRows.isWorthReporting(isEmpty: isEmpty) {
                try? leftOut(tests)?.report()  // it is only a note
            }
        }
        guard options.groups.isGiven else { return try put(columns, emptyNote, tests, total, &isEmpty, visit) }
        let groups = try RowGroups(options.groups, columns, time: time, zone: options.output.zone)
        let chart = try GroupChart(options.groups, options.output)
        let shown = groups.columns.map(\.ofAnyRow)
        _ = try (self.shown(shown), options.sort.map { try shown.named($0) })  // refused before rows are read
        if let rows = try counted(groups.names.union(tests.columns)) {
            for (row, count) in rows where tests.hold(row) { groups.add(row, count: count) }
        } else {
            let bar = ProgressBar("counting")
            var seen: UInt64 = 0
            try visit(options.query) { row in
                seen += 1
                if seen % 1_024 == 0 { bar.show(fraction: nil, done: seen, unit: "rows") }
                if tests.hold(row) { groups.add(row) }
                return tests.fault == nil && groups.goesOn
            }
            bar.end()
        }
        try tests.check()
        try groups.check()
        if chart != nil, groups.isEmpty, let unknown = try unknown { throw unknown }
        if let chart {
            isEmpty = groups.isEmpty
            return chart.draw(groups, options.page.range, emptyNote: emptyNote)
        }
        let sorted = options.sort == nil && options.reverse ? groups.sorted.reversed() : groups.sorted
        try put(shown, emptyNote, RowTests([], shown, in: ledger), { UInt64(sorted.count) }, &isEmpty) { _, body in
            _ = sorted.allSatisfy { body(AnyRow($0)) }
        }
    }

    /// Which rows the conditions choose, and which columns are shown.
    func chosen<Row>(_ columns: [Column<Row>]) throws -> (tests: RowTests<Row>, shown: [Column<Row>]) {
        (try RowTests(options.conditions, columns, in: ledger), try shown(columns))
    }

    private func put(
        _ columns: [Column<AnyRow>], _ emptyNote: String, _ tests: RowTests<AnyRow>, _ total: () throws -> UInt64?,
        _ isEmpty: inout Bool, _ visit: (RowQuery, (AnyRow) -> Bool) throws -> Void
    ) throws {
        let writer = try options.output.anyWriter(shown(columns), keepsOrder: options.columns != nil)
        let sort = try options.sort.map { try columns.named($0) }
        if sort == nil, options.conditions.isEmpty { writer.printBehind() }
        defer { writer.flush() }  // also what comes before an error
        let tellsMore = isTable && options.page.limit != nil && writer.isOnTerminal
        var page = RowPage(options.choosesRows ? options.page : nil, limit: options.page.limit, countsMore: tellsMore)
        guard page.left > 0, options.page.limit != 0 else { return writer.finish(emptyNote: "--limit 0 shows no rows") }
        func take(_ row: AnyRow) -> Bool {
            if page.takes() { writer.write(row) }
            return page.goesOn
        }
        let (most, isEndless) = page.left.addingReportingOverflow(page.skips)
        var sorted = SortedPage(most: isEndless ? nil : most, reverse: options.reverse)
        var seen: UInt64 = 0
        let bar = ProgressBar("reading")
        writer.replaces(bar)
        defer { bar.end() }
        try visit(tellsMore ? options.queryBeyond : options.query) { row in
            seen += 1
            // Beside rows that a terminal shows, nothing else is shown.
            if seen % 1_024 == 0, !writer.isShown { bar.show(fraction: nil, done: seen, unit: "rows") }
            guard tests.hold(row) else { return tests.fault == nil }
            guard let sort else { return take(row) }
            sorted.take(row, by: sort.value(row))
            return true
        }
        bar.end()
        try tests.check()
        for row in sorted.rows() { guard take(row) else { break } }
        var more: String?
        if tellsMore {
            let isMore = sort == nil ? page.beyond > 0 : sorted.count > UInt64(page.skips + writer.count)
            if isMore {
                let known = sort != nil ? sorted.count : options.choosesRows || options.groups.isGiven ? page.total : try total()
                more = RowPage.note(writer.count, of: known, atLeast: page.seen)
            }
        }
        if page.seen == 0, let unknown = try unknown ?? tests.unknown { throw unknown }
        var note = emptyNote
        if writer.count == 0, options.page.offset > 0 {
            let known = options.choosesRows || options.groups.isGiven ? page.seen : try total() ?? 0
            if known > 0 { note = "--offset \(options.page.offset) is beyond the last of \(known.grouped)" }
        }
        writer.finish(emptyNote: note, more: more)
        isEmpty = writer.count == 0
    }

    private var unknown: CommandError? {
        get throws {
            try CommandError.unheard(nodes.map { try $0.number(in: ledger) }, packet, in: ledger)
        }
    }

    /// Those that rows are chosen or sorted by are in every table.
    private func shown<Row>(_ columns: [Column<Row>]) throws -> [Column<Row>] {
        guard options.columns == nil else { return try columns.named(list: options.columns ?? "") }
        var columns = columns.filter { !$0.isOnRequest }
        let asked = options.asked.compactMap { try? columns.named($0).name }  // counts have other columns
        for asked in asked {
            for index in columns.indices where columns[index].name == asked {
                (columns[index].isMain, columns[index].isDetail) = (true, false)
            }
        }
        return columns
    }
}

extension ListRequest {
    /// The columns of rows that a window chooses by when they were last heard: headings say that these counts are not those of the window.
    func marking<Row>(_ counts: Set<String>, in columns: [Column<Row>]) -> [Column<Row>] {
        guard query.hasTimes else { return columns }
        return columns.map { column in
            var column = column
            if counts.contains(column.name) { column.heading += " (all time)" }
            return column
        }
    }
}

extension ListRequest {
    /// Prints a list that has an order of its own, which the finder reverses if the newest are to be first.
    func writeInOwnOrder<List: RowList>(_ list: List) throws {
        try write(list.columns(self), emptyNote: list.emptyNote) { query, body in
            var query = query
            query.newestFirst = options.sort == nil && options.reverse
            try list.visit(query, in: ledger, body)
        }
    }
}

extension RowQuery {
    /// Whether only rows of some times are wanted, which those are not of which only the time of their import is known.
    var hasTimes: Bool { since != nil || until != nil }

    /// Of all pages.
    var unpaged: RowQuery {
        var query = self
        (query.limit, query.offset) = (.max, 0)
        return query
    }

    /// Visits the rows of a page without those of which only the time of the import is known.
    func visitKnown<Row>(
        _ isOfImport: ((Row) -> Bool)?, _ visit: (RowQuery, (Row) -> Void) throws -> Void, _ body: @escaping (Row) -> Void
    ) throws {
        guard hasTimes, let isOfImport else { return try visit(self, body) }
        guard limit < .max else {
            var skips = offset
            var all = self
            all.offset = 0
            return try visit(all) { row in
                guard !isOfImport(row) else { return }
                if skips > 0 { skips -= 1 } else { body(row) }
            }
        }
        let (most, isEndless) = offset.addingReportingOverflow(limit)
        var wider = self
        (wider.offset, wider.limit) = (0, isEndless ? .max : most)
        while true {
            var (seen, known) = (0, [Row]())
            try visit(wider) { row in
                seen += 1
                if !isOfImport(row) { known.append(row) }
            }
            if known.count >= most || seen < wider.limit { return known.dropFirst(offset).prefix(limit).forEach(body) }
            wider.limit = wider.limit > .max / 2 ? .max : wider.limit * 2
        }
    }
}

extension Array {
    /// The rows of a query's times and page, for finders that take no query.
    func chosen(_ query: RowQuery, by time: (Element) -> UInt32) -> [Element] {
        var rows = filter { row in
            let time = Timestamp(seconds: Int64(time(row)))
            return query.since.map { $0 <= time } ?? true && query.until.map { time < $0 } ?? true
        }
        if !query.newestFirst { rows.sort { time($0) < time($1) } }
        return Array(rows.dropFirst(query.offset).prefix(query.limit))
    }
}
