internal import Foundation

/// The test of single rows.
struct RowFilter<Row: QueryRow> {
    let holds: (borrowing Row) throws(QueryError) -> Bool
    /// The columns that it reads; nil for all, and for values computed from them.
    let columns: Set<Int>?

    /// A filter that tests whole rows.
    init(_ holds: @escaping (borrowing Row) throws(QueryError) -> Bool) {
        self.holds = holds
        columns = nil
    }

    /// - Returns: nil if every row passes.
    init?(_ predicate: Predicate<Row>?, _ conditions: [TextCondition<Row>]) throws(QueryError) {
        let compilation = predicate.map { Compilation<Row>($0.variable.key) }
        var test: ((borrowing Row) throws(QueryError) -> Bool)?
        if let predicate, let compilation { test = try Self.compiled(predicate, compilation) }
        guard test != nil || !conditions.isEmpty else { return nil }
        let numbers = RowLayouts<Row>.shared.numbers
        let texts = conditions.flatMap(\.properties).map { numbers.number(of: $0) }
        let used = compilation.map(\.uses.columns) ?? []
        columns = used.flatMap { used in texts.contains(nil) ? nil : used.union(texts.compactMap(\.self)) }
        if let test, conditions.isEmpty {
            holds = test
            return
        }
        holds = { row throws(QueryError) in
            if let test { guard try test(row) else { return false } }
            for condition in conditions { guard condition.holds(row) else { return false } }
            return true
        }
    }

    private static func compiled(
        _ predicate: Predicate<Row>, _ compilation: Compilation<Row>
    ) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Bool {
        guard let expression = predicate.expression as? any CompiledExpression<Bool> else {
            throw QueryError(
                .unsupported, "the predicate uses what this version cannot evaluate: \(name(of: predicate.expression))")
        }
        return try expression.compiled(compilation)
    }

    private static func name(of expression: Any) -> String {
        String(describing: type(of: expression)).replacing("PredicateExpressions.", with: "")
    }
}
