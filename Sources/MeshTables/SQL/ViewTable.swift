internal import LMDB
internal import MeshLedger
internal import Projections
internal import ViewQuery

/// The rows of a view as a virtual table.
final class ViewTable<Row: QueryRow>: PlannedTable {
    typealias Columns = @Sendable (TableContext) -> [TableColumn<Row>]

    let makeColumns: Columns
    /// The columns that depend only on the row.
    let columns: [TableColumn<Row>]
    /// For each column, the row's columns that it needs; nil for all of them.
    let needed: [[Int]?]
    let rowColumns: [Int?]
    private let columnMatches: [ColumnMatch?]
    private let matches: [Int: ColumnMatch]
    private let accesses = RowAccess.all(of: Row.self)
    /// Key values that all rows of the table share, by row column.
    let fixed: [Int: ColumnNumberSet]
    private var prepared: [Int: PreparedView<Row>] = [:]

    init(
        _ session: SQLSession, name: String, path: String?, fixed: [String: SQLConstant] = [:],
        _ makeColumns: @escaping Columns
    ) throws {
        self.makeColumns = makeColumns
        columns = makeColumns(TableContext(schemasOf: try session.ledger(at: path)))
        needed = columns.map(\.needed)
        var (matches, rowColumns): ([Int: ColumnMatch], [Int?]) = ([:], [])
        columnMatches = columns.map { column in
            column.shown.flatMap { ColumnMatch(column, showing: Row.columns[$0]) }
        }
        for (column, match) in zip(columns, columnMatches) {
            guard let match, let shown = column.shown else {
                rowColumns.append(nil)
                continue
            }
            // Two columns may show the same property: an id as text, and as a number.
            rowColumns.append(matches[shown].map { $0.isOrdered == match.isOrdered } ?? true ? shown : nil)
            if matches[shown] == nil || match.bounds.isComparable { matches[shown] = match }
        }
        (self.matches, self.rowColumns) = (matches, rowColumns)
        var numbers: [Int: ColumnNumberSet] = [:]
        for (name, constant) in fixed {
            guard let column = Row.columns.firstIndex(where: { $0.name == name }),
                let place = columns.firstIndex(where: { $0.name == name }),
                let match = ColumnMatch(columns[place], showing: Row.columns[column])
            else { continue }
            numbers[column] = match.numbers(.equal, constant)
        }
        self.fixed = numbers
        let declaration = TableDeclaration(
            name, columns.map(\.schema), hidden: (Row.texts.isEmpty ? [] : [.words]) + [.asOf, .checkpoint, .rowKey],
            hasRowID: false)
        super.init(session, declaration, path: path)
    }

    /// Whether no column is part of the rows' key.
    var hasBareKeys: Bool { accesses.first?.parts.isEmpty ?? true }

    func match(_ column: Int) -> ColumnMatch? { columnMatches.indices.contains(column) ? columnMatches[column] : nil }

    override func planner() throws -> AccessPlanner? {
        session.ask(Row.view)
        var accesses = accesses
        var count = 1_000.0
        let ledger = try session.ledger(at: path)
        if let store = try? ledger.store(of: Row.view) {  // a view that is not built yet is reported when it is read
            let transaction = try store.environment.beginRead()
            count = Double(try transaction.count(store.table(Row.table)))
            if try !RowAccess.isIndexed(Row.self, in: store, transaction) { accesses = Array(accesses.prefix(1)) }
        }
        return AccessPlanner(
            accesses: accesses, matches: matches, rowColumns: rowColumns, rowCount: count,
            exact: Set(columns.indices.filter { columnMatches[$0]?.isExact == true }), fixed: Set(fixed.keys))
    }

    override func title(_ access: Int) -> String {
        guard accesses.indices.contains(access), let index = accesses[access].index else { return "key" }
        return "index (\(index.snakeCased))"
    }

    override var finds: [String] {
        accesses.enumerated().compactMap { number, access in
            let parts = access.parts.filter { fixed[$0.column] == nil }
            guard !parts.isEmpty else { return nil }
            let names = parts.map { part in
                rowColumns.firstIndex(of: part.column).map(table.name) ?? Row.columns[part.column].name.snakeCased
            }
            return "\(title(number)): \(names.joined(separator: ", "))"
        }
    }

    override func canSearch(_ column: Int) -> Bool {
        guard columns.indices.contains(column), let shown = columns[column].shown else { return false }
        return Row.texts.contains { $0.isOf(Row.columns[shown]) }
    }

    override func cursor() -> VirtualCursor { ViewCursor(self) }

    /// What each run of a statement with this plan needs.
    func prepared(_ number: Int) -> PreparedView<Row> {
        if let known = prepared[number] { return known }
        let plan = plan(number)
        let shown = columns.indices.filter { plan.reads($0) }
        let needed = shown.map { self.needed[$0] }
        let chosen = needed.contains { $0 == nil } ? nil : Array(Set(needed.flatMap { $0 ?? [] }))
        let made = PreparedView(
            access: PreparedAccess<Row>(access: plan.access, columns: chosen),
            isContextual: shown.contains { columns[$0].isContextual },
            readsKeys: hasBareKeys || plan.reads(columns.count + (table.hidden.firstIndex(of: .rowKey) ?? 0)))
        prepared[number] = made
        return made
    }

    /// The positions in an access that the table's own values fill.
    func fixedBounds(_ access: Int) -> [Int: ColumnNumberSet] {
        guard !fixed.isEmpty, accesses.indices.contains(access) else { return [:] }
        var bounds: [Int: ColumnNumberSet] = [:]
        for (place, part) in accesses[access].parts.enumerated() { bounds[place] = fixed[part.column] }
        return bounds
    }
}

/// A plan for a view: how rows are found, whether it has a column that depends on more than the row, and whether it reads the rows' keys.
struct PreparedView<Row: QueryRow> {
    let access: PreparedAccess<Row>
    let isContextual: Bool
    let readsKeys: Bool
}

/// A walk through rows of a view.
private final class ViewCursor<Row: QueryRow>: BatchCursor {
    private let view: ViewTable<Row>
    private var columns: RowColumns<Row>
    private var batches: RowBatches<Row>?
    private var found: [Row] = []
    private var keys: RowKeys

    init(_ view: ViewTable<Row>) {
        self.view = view
        columns = RowColumns(view.columns)
        keys = RowKeys()
        super.init(view)
    }

    override func rest() -> Bool {
        _ = super.rest()
        batches?.end()
        (batches, found) = (nil, [])
        columns.rest()
        keys.removeAll(isWanted: false)
        return true
    }

    override func begin(_ values: [SQLArgument], _ ledger: Ledger, _ snapshot: SQLSnapshot) throws {
        batches?.end()
        (batches, found) = (nil, [])
        let prepared = view.prepared(planNumber)
        if prepared.isContextual {
            columns = RowColumns(view.makeColumns(try TableContext(ledger)).prefix(view.columns.count).map { $0 })
        } else {
            columns.removeAll()
        }
        keys.removeAll(isWanted: prepared.readsKeys)
        let words = Self.words(plan, values)
        if !words.isEmpty { return try search(words, ledger) }
        var bounds = view.fixedBounds(plan.access)
        for (use, value) in zip(plan.uses, values) {
            guard case .bound(let place, let column, let test) = use, let match = view.match(column) else { continue }
            let set: ColumnNumberSet? =
                switch value {
                case .value(let constant): match.numbers(test, constant)
                case .list(let constants): match.numbers(anyOf: constants)
                }
            guard let set else { continue }
            bounds[place] = bounds[place].map { $0.narrowed(by: set) } ?? set
        }
        let read = try snapshot.read(Row.view)
        try read.use { store, transaction in
            let pull = try RowPull(
                prepared.access, bounds: bounds, isReversed: plan.isReversed, limit: nil, in: store, transaction,
                includesArchived: false, ledger)
            batches = RowBatches(read, pull, readsKeys: prepared.readsKeys)
        }
    }

    override func read(_ most: Int, goesOn: Bool) throws {
        guard batches != nil else {
            columns.rows = found
            found = []
            (count, isComplete) = (columns.rows.count, true)
            return
        }
        do {
            isComplete = try batches?.next(most, into: &columns.rows, keys: &keys.keys, goesOn: goesOn) ?? true
        } catch {
            throw ledger.map { LedgerError(error, path: $0.path) } ?? error
        }
        count = columns.rows.count
    }

    override func loadColumn(_ column: Int) -> LoadedColumn? { columns.load(column) }

    /// When SQLite joins the rows of several plans, it asks for columns that it had not announced.
    override func writeKey(to result: SQLResult) {
        guard !keys.isWanted, columns.rows.indices.contains(index) else { return result.bytes(keys.key(index)) }
        result.bytes(RowAccess.key(of: columns.rows[index])[...])
    }

    override func checkpoint() throws -> UInt64 { try snapshot?.checkpoint(of: Row.view) ?? 0 }

    // MARK: Words

    private typealias Words = (text: SQLConstant, column: Int?)

    private static func words(_ plan: TablePlan, _ values: [SQLArgument]) -> [Words] {
        zip(plan.uses, values).compactMap { use, value in
            if case .words(let column) = use, case .value(let text) = value { (text, column) } else { nil }
        }
    }

    /// The rows that fit all of the words, those that fit the first ones best first.
    private func search(_ words: [Words], _ ledger: Ledger) throws {
        found = try words.first.map { try rows(of: $0, ledger) } ?? []
        for others in words.dropFirst() where !found.isEmpty {
            let keys = Set(try rows(of: others, ledger).map(RowAccess.key))
            found.removeAll { !keys.contains(RowAccess.key(of: $0)) }
        }
        if keys.isWanted { for row in found { keys.append(RowAccess.key(of: row)) } }
    }

    private func rows(of words: Words, _ ledger: Ledger) throws -> [Row] {
        let text: String
        switch words.text {
        case .text(let words): text = words
        case .integer(let number): text = String(number)
        case .real(let number): text = "\(number)"
        case .null, .bytes: return []
        }
        var properties = Row.texts.map(\.property)
        if let column = words.column, let shown = view.columns[column].shown {
            properties = Row.texts.filter { $0.isOf(Row.columns[shown]) }.map(\.property)
        }
        guard !properties.isEmpty else { return [] }
        return try ledger.search(TextQuery(text, in: properties, fetchLimit: nil)).map(\.row)
    }
}

/// The keys of a batch's rows, if a statement asks for them.
struct RowKeys {
    private(set) var isWanted = false
    var keys: [[UInt8]] = []

    mutating func removeAll(isWanted: Bool) {
        self.isWanted = isWanted
        keys.removeAll(keepingCapacity: true)
    }

    mutating func append(_ key: [UInt8]) { keys.append(key) }

    func key(_ index: Int) -> ArraySlice<UInt8> { keys.indices.contains(index) ? keys[index][...] : [] }
}
