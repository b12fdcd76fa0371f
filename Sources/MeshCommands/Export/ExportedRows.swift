import MeshLedger

/// The rows that an export writes: those that `--where` chooses, of its page, with the progress of the work.
final class ExportedRows<Row> {
    private let tests: RowTests<Row>
    private var page: RowPage
    private let isOfImport: ((Row) -> Bool)?
    private var hasLeftOut = false
    private let bar: ProgressBar
    private let total: UInt64?
    private var seen: UInt64 = 0
    private let unknown: () throws -> CommandError?

    /// - Parameters:
    ///   - columns: may be empty where there are no conditions and times.
    ///   - type: the rows' own type, where they come as any rows.
    ///   - hasTimes: whether only rows of some times are wanted.
    ///   - isPaged: whether the rows that come are those of the page.
    ///   - total: how many rows come, where that is known.
    ///   - unknown: what was asked about and never heard.
    init(
        _ conditions: [RowCondition], _ columns: [Column<Row>], of type: Any.Type, in ledger: Ledger, hasTimes: Bool,
        page: PageOptions, isPaged: Bool, title: String, total: UInt64? = nil, unknown: @escaping () throws -> CommandError?
    ) throws {
        self.unknown = unknown
        isOfImport = hasTimes ? columns.time()?.isOfImport : nil
        tests = try RowTests(conditions, columns, of: type, in: ledger)
        self.page = RowPage(isPaged ? nil : page, limit: page.limit, countsMore: false)
        bar = ProgressBar(title)
        self.total = total
    }

    deinit { bar.end() }

    /// Whether the row is written.
    /// - Parameter row: nil where there are no conditions, its time is known, and it was not made.
    func takes(_ row: Row?) -> Bool {
        seen += 1
        if seen % 1_024 == 0 { bar.show(fraction: total.map { Double(seen) / Double(max($0, 1)) }, done: seen, unit: "rows") }
        guard row.map(tests.hold) ?? true else { return false }
        if let isOfImport, let row, isOfImport(row) {
            hasLeftOut = true
            return false
        }
        return page.takes()
    }

    /// Rows that are all written, since the ledger has chosen them.
    func takeAll(_ count: Int) {
        seen += UInt64(count)
        bar.show(fraction: total.map { Double(seen) / Double(max($0, 1)) }, done: seen, unit: "rows")
    }

    /// Whether further rows may be written.
    var goesOn: Bool { tests.fault == nil && page.left > 0 }

    /// - Throws: where a condition cannot be compared with its column, or nothing was ever heard of what was asked about.
    func end() throws {
        bar.end()
        try tests.check()
        if seen == 0, let unknown = try unknown() { throw unknown }
        if page.seen == 0, let unknown = try tests.unknown { throw unknown }
        if hasLeftOut, LeftOutRows.isWorthReporting(isEmpty: page.seen == 0) {
            LeftOutRows(noun: "row", advice: "without --since and --until, all are written").report()
        }
        tests.reportLeftOut(isEmpty: page.seen == 0)
    }
}
