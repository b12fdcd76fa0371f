internal import MeshLedger

/// A table whose rows are visited one after the other: what is kept of events, also of those that retention has dropped.
final class ListedTable<Row: TableRow>: LogTable {
    /// Visits the rows of these events until `take` returns false.
    typealias Visit = @Sendable (_ ledger: Ledger, _ range: ClosedRange<UInt64>, _ take: (Row) -> Bool) throws -> Void

    let visit: Visit
    let number: (Row) -> UInt64
    private let ofView: String?
    private let finder: Finder?

    init(
        _ session: SQLSession, path: String?, view: String?, rowFinder: Finder?, visit: @escaping Visit,
        number: @escaping (Row) -> UInt64
    ) {
        (self.visit, self.number, ofView, finder) = (visit, number, view, rowFinder)
        super.init(session, Row.tableSchema(), path: path, finders: ["sequence": .sequence])
    }

    override var view: String? { ofView }
    override var rowFinder: Finder? { finder }
    override func first(_ ledger: Ledger) -> UInt64 { 1 }
    override func cursor() -> VirtualCursor { ListedTableCursor(self) }
}

private final class ListedTableCursor<Row: TableRow>: LogCursor<Row> {
    private let list: ListedTable<Row>
    private var pump: ItemPump<Row>?

    init(_ list: ListedTable<Row>) {
        self.list = list
        super.init(list, Row.tableColumns(TableContext()))
    }

    deinit { pump?.stop() }

    override func begin(_ bounds: LogBounds, _ ledger: Ledger, _ head: UInt64) throws {
        pump?.stop()
        columns.removeAll()
        pump = ItemPump { [visit = list.visit, runs = bounds.runs] take in
            var goesOn = true
            for run in runs where goesOn {
                try visit(ledger, run) { row in
                    goesOn = take(row)
                    return goesOn
                }
            }
        }
    }

    override func read(_ most: Int, goesOn: Bool) throws {
        columns.removeAll()
        columns.rows = try pump?.next(most) ?? []
        (count, isComplete) = (columns.rows.count, pump?.isAtEnd ?? true)
    }

    override func number(_ row: Row) -> UInt64 { list.number(row) }
}
