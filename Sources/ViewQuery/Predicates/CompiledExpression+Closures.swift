internal import Foundation

// Expressions with a closure: its variable has a slot, which is filled before the closure is evaluated.

extension PredicateExpressions.SequenceContainsWhere: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let sequence = try sequence.compiled(compilation)
        let (slot, test) = try compilation.closure(of: variable, test)
        return { row throws(QueryError) in
            for element in try sequence(row) {
                slot.value = element
                if try test(row) { return true }
            }
            return false
        }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let sequence = try sequence.compiled(compilation)
        let (slot, test) = try compilation.closure(of: variable, test)
        return { row throws(QueryError) in
            for element in try sequence(row) {
                slot.value = element
                if try !test(row) { return false }
            }
            return true
        }
    }
}

extension PredicateExpressions.Filter: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let sequence = try sequence.compiled(compilation)
        let (slot, test) = try compilation.closure(of: variable, filter)
        return { row throws(QueryError) in
            var elements: [LHS.Output.Element] = []
            for element in try sequence(row) {
                slot.value = element
                if try test(row) { elements.append(element) }
            }
            return elements
        }
    }
}

extension PredicateExpressions.OptionalFlatMap: CompiledExpression where LHS: CompiledExpression, RHS: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let wrapped = try wrapped.compiled(compilation)
        let (slot, body) = try compilation.closure(of: variable, transform)
        let transform = CompiledBox(body)
        if let plain = transform as? CompiledBox<Row, Result> {
            return { row throws(QueryError) in
                guard let value = try wrapped(row) else { return nil }
                slot.value = value
                return try plain.evaluate(row)
            }
        }
        guard let optional = transform as? CompiledBox<Row, Result?> else {
            throw QueryError(.unsupported, "a closure of the predicate returns \(RHS.Output.self) instead of \(Result.self)")
        }
        return { row throws(QueryError) in
            guard let value = try wrapped(row) else { return nil }
            slot.value = value
            return try optional.evaluate(row)
        }
    }
}
