internal import Foundation

extension PredicateExpressions.Arithmetic: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (left, right) = (try lhs.compiled(compilation), try rhs.compiled(compilation))
        let operation: CheckedOperation<Output>
        switch op {
        case .add: operation = .adding
        case .subtract: operation = .subtracting
        case .multiply: operation = .multiplying
        @unknown default: throw QueryError(.unsupported, "the predicate uses an unknown operation: \(op)")
        }
        return { row throws(QueryError) in
            let (first, second) = (try left(row), try right(row))
            return try operation.result(first, second)
        }
    }
}

extension PredicateExpressions.UnaryMinus: CompiledExpression where Wrapped: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let wrapped = try wrapped.compiled(compilation)
        let operation = CheckedOperation<Output>.subtracting
        let isExact = Output.self is any FixedWidthInteger.Type
        return { row throws(QueryError) in
            let value = try wrapped(row)
            return isExact ? try operation.result(.zero, value) : -value
        }
    }
}

extension PredicateExpressions.IntDivision: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (left, right) = (try lhs.compiled(compilation), try rhs.compiled(compilation))
        let operation = CheckedOperation<Output>.dividing
        return { row throws(QueryError) in
            let (first, second) = (try left(row), try right(row))
            return try operation.result(first, second)
        }
    }
}

extension PredicateExpressions.IntRemainder: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (left, right) = (try lhs.compiled(compilation), try rhs.compiled(compilation))
        let operation = CheckedOperation<Output>.remainder
        return { row throws(QueryError) in
            let (first, second) = (try left(row), try right(row))
            return try operation.result(first, second)
        }
    }
}

extension PredicateExpressions.FloatDivision: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (left, right) = (try lhs.compiled(compilation), try rhs.compiled(compilation))
        return { row throws(QueryError) in try left(row) / right(row) }
    }
}
