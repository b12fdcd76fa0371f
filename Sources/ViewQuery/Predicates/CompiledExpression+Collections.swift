internal import Foundation

extension PredicateExpressions.SequenceContains: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (sequence, element) = (try sequence.compiled(compilation), try element.compiled(compilation))
        return { row throws(QueryError) in
            let wanted = try element(row)
            return try sequence(row).contains(wanted)
        }
    }
}

extension PredicateExpressions.CollectionContainsCollection: CompiledExpression
where Base: CompiledExpression, Other: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (base, other) = (try base.compiled(compilation), try other.compiled(compilation))
        return { row throws(QueryError) in
            let wanted = try other(row)
            return try base(row).contains(wanted)
        }
    }
}

extension PredicateExpressions.SequenceStartsWith: CompiledExpression where Base: CompiledExpression, Prefix: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (base, prefix) = (try base.compiled(compilation), try prefix.compiled(compilation))
        return { row throws(QueryError) in
            let wanted = try prefix(row)
            return try base(row).starts(with: wanted)
        }
    }
}

extension PredicateExpressions.RangeExpressionContains: CompiledExpression
where RangeExpression: CompiledExpression, Element: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (range, element) = (try range.compiled(compilation), try element.compiled(compilation))
        return { row throws(QueryError) in
            let wanted = try element(row)
            return try range(row).contains(wanted)
        }
    }
}
