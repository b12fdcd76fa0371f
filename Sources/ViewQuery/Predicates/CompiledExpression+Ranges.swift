internal import Foundation

/// A range between two expressions, `...` or `..<`.
protocol RangeBetweenExpressions: PredicateExpression {
    associatedtype Lower: PredicateExpression
    associatedtype Upper: PredicateExpression where Upper.Output == Lower.Output

    var lower: Lower { get }
    var upper: Upper { get }

    /// Nil if it would end before it begins.
    static func range(_ low: Lower.Output, _ high: Upper.Output) -> Output?
}

extension RangeBetweenExpressions where Lower: CompiledExpression, Upper: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (lower, upper) = (try lower.compiled(compilation), try upper.compiled(compilation))
        return { row throws(QueryError) in
            let (low, high) = (try lower(row), try upper(row))
            guard let range = Self.range(low, high) else {
                throw QueryError(.noValue, "a range of the predicate ends at \(high), before it begins at \(low)")
            }
            return range
        }
    }
}

extension RangeBetweenExpressions {
    var constant: Any? {
        guard let low = value(of: lower) as? Lower.Output, let high = value(of: upper) as? Upper.Output else { return nil }
        return Self.range(low, high)
    }
}

extension PredicateExpressions.ClosedRange: RangeBetweenExpressions, ConstantExpression {
    static func range(_ low: LHS.Output, _ high: RHS.Output) -> Output? { low <= high ? low...high : nil }
}

extension PredicateExpressions.Range: RangeBetweenExpressions, ConstantExpression {
    static func range(_ low: LHS.Output, _ high: RHS.Output) -> Output? { low <= high ? low..<high : nil }
}

extension PredicateExpressions.ClosedRange: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {}
extension PredicateExpressions.Range: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {}
