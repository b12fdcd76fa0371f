internal import CSQLiteExtension
internal import ViewQuery

/// How a statement reads a table: through which key or index, bounded by which values.
struct TablePlan: Hashable {
    enum Use: Hashable {
        /// A part of the key or index, by its position.
        case bound(place: Int, column: Int, test: ColumnTest)
        case asOf(isNullNow: Bool)
        /// The words to search in a column, or in all.
        case words(column: Int?)
        case limit, offset
    }

    /// The number of the access path.
    var access = 0
    /// In the order of the values.
    var uses: [Use] = []
    var isReversed = false
    /// One bit for each column that is read.
    var columns: UInt64 = .max

    func reads(_ column: Int) -> Bool { columns >> UInt64(min(column, 63)) & 1 == 1 }
}

/// How a column is compared with a constant in SQL.
struct ColumnMatch: Sendable {
    let bounds: ColumnBounds
    /// Whether the stored numbers sort as SQLite sorts the values.
    let isOrdered: Bool
    /// Whether a value equals a constant just if its number does, so that SQLite need not compare them.
    var isExact = false
    /// The stored form of a constant; nil if it is unknown.
    let convert: @Sendable (SQLConstant) -> Converted

    enum Converted {
        case constant(ColumnConstant)
        /// No value matches.
        case nothing
        case unknown
    }

    /// The numbers that may match; nil for all.
    func numbers(_ test: ColumnTest, _ constant: SQLConstant) -> ColumnNumberSet? {
        if constant == .null { return ColumnNumberSet.none }
        switch convert(constant) {
        case .constant(let constant): return bounds.numbers(test, constant)
        case .nothing: return test == .equal ? ColumnNumberSet.none : nil
        case .unknown: return nil
        }
    }

    /// The numbers of any of the constants.
    func numbers(anyOf constants: [SQLConstant]) -> ColumnNumberSet? {
        var all: [[UInt64]] = []
        for constant in constants {
            guard case .points(let points)? = numbers(.equal, constant) else { return nil }
            all += points
        }
        return .points(all)
    }
}

/// Chooses the access path of a statement, by rules that need no statistics but the number of rows.
struct AccessPlanner {
    let accesses: [RowAccess]
    /// For each row column, the table columns that show it, and how they are compared.
    let matches: [Int: ColumnMatch]
    /// For each table column, the row column that it shows.
    let rowColumns: [Int?]
    let rowCount: Double
    /// Table columns whose equality the stored numbers decide.
    let exact: Set<Int>
    /// Row columns that have the same value in all rows of the table.
    var fixed: Set<Int> = []

    struct Choice {
        var access = 0
        var uses: [(constraint: Int, use: TablePlan.Use, isList: Bool, isExact: Bool)] = []
        var rows = 0.0
        var cost = 0.0
        var isOrdered = false
        var isReversed = false
        var isUnique = false
        /// The bound parts of the key or index, for people to read.
        var bound: [String] = []
    }

    func choose(_ question: TableQuestion, name: (Int) -> String) -> Choice {
        var best: Choice?
        for number in accesses.indices {
            let choice = choice(number, question, name)
            // Reading a whole index gains nothing over reading the rows, unless its order is wanted.
            if let known = best, choice.cost >= known.cost { continue }
            best = choice
        }
        return best ?? Choice()
    }

    private func choice(_ number: Int, _ question: TableQuestion, _ name: (Int) -> String) -> Choice {
        let access = accesses[number]
        var choice = Choice()
        choice.access = number
        var (share, fixed, isWhole): (Double, Set<Int>, Bool) = (1, fixed, true)
        for (place, part) in access.parts.enumerated() {
            if fixed.contains(part.column) {
                share *= 0.2
                continue
            }
            guard let match = matches[part.column] else {
                isWhole = false
                break
            }
            func find(_ operations: [Int32], lists: Bool? = nil) -> Int? {
                question.constraints.firstIndex { constraint in
                    constraint.isUsable && constraint.isBinary && operations.contains(Int32(constraint.operation))
                        && rowColumn(constraint.column) == part.column && (lists.map { $0 == constraint.isList } ?? true)
                }
            }
            if let found = find([SQLITE_INDEX_CONSTRAINT_EQ], lists: false) ?? find([SQLITE_INDEX_CONSTRAINT_EQ]) {
                let constraint = question.constraints[found]
                // The keys behind a list's may be read as a whole.
                let isExact = exact.contains(constraint.column) && !constraint.isList && !choice.uses.contains(where: \.isList)
                choice.uses.append(
                    (found, .bound(place: place, column: constraint.column, test: .equal), constraint.isList, isExact))
                choice.bound.append(name(constraint.column) + (constraint.isList ? " IN" : "="))
                if !constraint.isList { fixed.insert(part.column) } else { share *= 8 }
                share *= place == 0 ? 0.004 : 0.05
                continue
            }
            isWhole = false
            guard match.bounds.isComparable else { break }
            for (operations, test) in [
                ([SQLITE_INDEX_CONSTRAINT_GT], ColumnTest.greater), ([SQLITE_INDEX_CONSTRAINT_GE], .greaterOrEqual),
                ([SQLITE_INDEX_CONSTRAINT_LT], .less), ([SQLITE_INDEX_CONSTRAINT_LE], .lessOrEqual),
            ] {
                guard let found = find(operations) else { continue }
                let column = question.constraints[found].column
                choice.uses.append((found, .bound(place: place, column: column, test: test), false, false))
                choice.bound.append(name(column) + test.rawValue)
                share *= 0.25
            }
            break
        }
        choice.isUnique = isWhole && number == 0 && fixed.count == access.parts.count
        choice.rows = choice.isUnique ? 1 : max(1, rowCount * min(1, share))
        setOrder(&choice, question, access, fixed)
        // Rows found through an index are looked up one by one.
        choice.cost = 4 + choice.rows * (access.index == nil ? 1 : 2.5)
        if !question.order.isEmpty, !choice.isOrdered { choice.cost += choice.rows * 3 }
        return choice
    }

    private func rowColumn(_ column: Int) -> Int? { rowColumns.indices.contains(column) ? rowColumns[column] : nil }

    private func setOrder(_ choice: inout Choice, _ question: TableQuestion, _ access: RowAccess, _ fixed: Set<Int>) {
        // Keys that contain no properties sort in an order of their own.
        guard !access.parts.isEmpty else { return }
        var (spot, direction): (Int, Bool?) = (0, nil)
        for term in question.order {
            guard let column = rowColumn(term.column), matches[column] != nil else { return }
            if fixed.contains(column) { continue }
            while spot < access.parts.count, fixed.contains(access.parts[spot].column) { spot += 1 }
            // The whole key is in order, so later terms make no difference.
            guard spot < access.parts.count else { break }
            let part = access.parts[spot]
            guard part.column == column, part.isOrdered, matches[column]?.isOrdered == true else { return }
            let isReversed = part.isDescending != term.isDescending
            guard direction ?? isReversed == isReversed else { return }
            direction = isReversed
            spot += 1
        }
        choice.isOrdered = !question.order.isEmpty
        choice.isReversed = direction ?? false
    }
}
