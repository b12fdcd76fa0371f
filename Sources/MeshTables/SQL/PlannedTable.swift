internal import CSQLiteExtension
internal import MeshLedger

/// A virtual table that stores the plans of its statements.
class PlannedTable: VirtualTable {
    let table: TableDeclaration
    let path: String?
    private var plans: [TablePlan] = []
    private var numbers: [TablePlan: Int] = [:]

    init(_ session: SQLSession, _ table: TableDeclaration, path: String?) {
        (self.table, self.path) = (table, path)
        super.init(session, declaration: table.text)
    }

    func plan(_ number: Int) -> TablePlan { plans.indices.contains(number) ? plans[number] : TablePlan() }

    func planner() throws -> AccessPlanner? { nil }

    /// What an access path reads, for people to read.
    func title(_ access: Int) -> String { "key" }

    /// Columns that `MATCH` searches: nil for the table itself.
    func canSearch(_ column: Int) -> Bool { false }

    override func choose(_ question: TableQuestion) throws -> TableAnswer? {
        var plan = TablePlan()
        plan.columns = question.columns
        var answer = TableAnswer()
        var taken: Set<Int> = []
        func take(_ constraint: Int, _ use: TablePlan.Use, isList: Bool = false, isExact: Bool = false) {
            guard taken.insert(constraint).inserted else { return }
            plan.uses.append(use)
            answer.uses.append(TableAnswer.Use(constraint: constraint, takesAll: isList, isExact: isExact))
        }
        var (notes, isSearch): ([String], Bool) = ([], false)
        for (index, constraint) in question.constraints.enumerated() {
            let operation = Int32(constraint.operation)
            if table.hidden(constraint.column) == .asOf, let isNullNow = try Self.isNullNow(operation) {
                // Without its value there is nothing to read.
                guard constraint.isUsable else { return nil }
                take(index, .asOf(isNullNow: isNullNow), isExact: true)
                notes.append("as_of=")
            } else if operation == SQLITE_INDEX_CONSTRAINT_MATCH {
                let isTable = table.hidden(constraint.column) == .words
                guard isTable || canSearch(constraint.column) else { continue }
                guard constraint.isUsable else { return nil }
                take(index, .words(column: isTable ? nil : constraint.column), isExact: true)
                isSearch = true
                notes.append("words of \(table.name(constraint.column))")
            }
        }
        if isSearch {
            (answer.rows, answer.cost) = (50, 500)
        } else if let planner = try planner() {
            let choice = planner.choose(question, name: table.name)
            plan.access = choice.access
            for use in choice.uses { take(use.constraint, use.use, isList: use.isList, isExact: use.isExact) }
            (plan.isReversed, answer.isOrdered, answer.isUnique) = (choice.isReversed, choice.isOrdered, choice.isUnique)
            (answer.rows, answer.cost) = (choice.rows, choice.cost)
            let bound = choice.bound.isEmpty ? "" : ": " + choice.bound.joined(separator: " AND ")
            notes.insert(title(choice.access) + bound + (choice.isReversed ? ", reversed" : ""), at: 0)
        }
        for (index, constraint) in question.constraints.enumerated() where constraint.isUsable {
            // Only as a hint of how much to read at once.
            if Int32(constraint.operation) == SQLITE_INDEX_CONSTRAINT_LIMIT { take(index, .limit) }
            if Int32(constraint.operation) == SQLITE_INDEX_CONSTRAINT_OFFSET { take(index, .offset) }
        }
        answer.text = notes.joined(separator: ", ")
        answer.number = number(of: plan)
        return answer
    }

    /// Whether a comparison of `as_of` takes null for the current state; nil for one that leaves the table at it, where the column is null. Programs that
    /// look at all columns ask whether it is.
    private static func isNullNow(_ operation: Int32) throws -> Bool? {
        switch operation {
        case SQLITE_INDEX_CONSTRAINT_EQ: false
        case SQLITE_INDEX_CONSTRAINT_IS: true
        case SQLITE_INDEX_CONSTRAINT_ISNULL, SQLITE_INDEX_CONSTRAINT_ISNOTNULL, SQLITE_INDEX_CONSTRAINT_LIMIT,
            SQLITE_INDEX_CONSTRAINT_OFFSET:
            nil
        default: throw SQLFailure(description: "as_of chooses one moment: as_of = 1200 or as_of = '2025-09-01'")
        }
    }

    final func number(of plan: TablePlan) -> Int {
        if let known = numbers[plan] { return known }
        plans.append(plan)
        numbers[plan] = plans.count - 1
        return plans.count - 1
    }
}

/// A walk that reads rows in batches.
class BatchCursor: VirtualCursor {
    /// The first batch is small, since often no more rows are wanted.
    private static let (first, most) = (64, 1_024)

    let table: PlannedTable
    private(set) var plan = TablePlan()
    private(set) var planNumber = 0
    private(set) var ledger: Ledger?
    private(set) var snapshot: SQLSnapshot?
    private var moment = SQLConstant.null
    private var size = BatchCursor.first
    var index = 0
    var count = 0
    /// Looked up here, since code for rows of any type is slower.
    private let loaded: LoadedColumns
    /// Whether the current rows are the last ones.
    var isComplete = true

    init(_ table: PlannedTable) {
        self.table = table
        loaded = LoadedColumns(table.table.columnCount)
    }

    final override var isAtEnd: Bool { index >= count }

    final override func start(_ number: Int, _ values: [SQLArgument]) throws {
        (plan, planNumber) = (table.plan(number), number)
        (index, count, isComplete, moment) = (0, 0, true, .null)
        var (limit, offset): (Int64?, Int64) = (nil, 0)
        for (use, value) in zip(plan.uses, values) {
            guard case .value(let value) = value else { continue }
            switch use {
            case .asOf(let isNullNow):
                if moment != .null, moment != value { return }
                moment = value
                // No moment equals null.
                if value == .null, !isNullNow { return }
            case .limit: if case .integer(let number) = value { limit = number }
            case .offset: if case .integer(let number) = value { offset = number }
            case .bound, .words: continue
            }
        }
        var ledger = try table.session.ledger(at: table.path)
        if let moment = try AskedPointInTime.parse(moment) { ledger = try table.session.past(of: ledger, moment) }
        let snapshot = try table.session.snapshot(of: ledger)
        (self.ledger, self.snapshot) = (ledger, snapshot)
        size = Self.first
        if let limit, limit >= 0 {
            let (reach, isCut) = limit.addingReportingOverflow(max(0, offset))
            size = isCut ? Self.most : Int(clamping: min(max(reach, 1), Int64(Self.most)))
        }
        isComplete = false
        try begin(values, ledger, snapshot)
        try load()
    }

    override func rest() -> Bool {
        (ledger, snapshot, index, count, isComplete) = (nil, nil, 0, 0, true)
        loaded.removeAll()
        return false
    }

    @inline(__always)
    final override func advance() throws {
        index &+= 1
        if index >= count, !isComplete { try load() }
    }

    private func load() throws {
        repeat {
            index = 0
            loaded.removeAll()
            try read(size, goesOn: size == Self.most)
            size = min(size * 2, Self.most)
        } while count == 0 && !isComplete
    }

    @inline(__always)
    final override func write(_ column: Int, to result: SQLResult) throws {
        if !loaded.write(column, index, to: result) { try writeOther(column, to: result) }
    }

    private func writeOther(_ column: Int, to result: SQLResult) throws {
        switch table.table.hidden(column) {
        case nil:
            guard let values = loadColumn(column) else { return result.null() }
            loaded.add(values, column)
            values.write(index, to: result)
        case .asOf:
            switch moment {
            case .integer(let number): result.integer(number)
            case .real(let number): result.real(number)
            case .text(let text): result.text(text)
            case .null, .bytes: result.null()
            }
        case .checkpoint: result.unsigned(try checkpoint())
        case .words: result.null()
        case .rowKey: writeKey(to: result)
        }
    }

    /// Prepares to read the rows within the values' bounds.
    func begin(_ values: [SQLArgument], _ ledger: Ledger, _ snapshot: SQLSnapshot) throws {}
    /// Reads about this many of the next rows; sets `count` and `isComplete`.
    ///
    /// - Parameter goesOn: whether so many were read that more are likely to be.
    func read(_ most: Int, goesOn: Bool) throws { (count, isComplete) = (0, true) }
    /// The values of the current rows; nil if there is no such column.
    func loadColumn(_ column: Int) -> LoadedColumn? { nil }
    func writeKey(to result: SQLResult) { result.null() }
    func checkpoint() throws -> UInt64 { snapshot?.head ?? 0 }
}
