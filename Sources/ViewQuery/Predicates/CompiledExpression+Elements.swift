internal import Foundation

// Elements of collections and dictionaries, and statements about all elements.

extension PredicateExpressions.CollectionIndexSubscript: CompiledExpression
where Wrapped: CompiledExpression, Index: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (wrapped, index) = (try wrapped.compiled(compilation), try index.compiled(compilation))
        return { row throws(QueryError) in
            let (elements, place) = (try wrapped(row), try index(row))
            guard place >= elements.startIndex, place < elements.endIndex else {
                throw QueryError(.noValue, "the predicate requests the element at \(place), which does not exist")
            }
            return elements[place]
        }
    }
}

extension PredicateExpressions.CollectionRangeSubscript: CompiledExpression
where Wrapped: CompiledExpression, Range: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (wrapped, range) = (try wrapped.compiled(compilation), try range.compiled(compilation))
        return { row throws(QueryError) in
            let (elements, places) = (try wrapped(row), try range(row))
            guard places.lowerBound >= elements.startIndex, places.upperBound <= elements.endIndex else {
                throw QueryError(.noValue, "the predicate requests the elements \(places), but there are fewer")
            }
            return elements[places]
        }
    }
}

extension PredicateExpressions.DictionaryKeySubscript: CompiledExpression
where Wrapped: CompiledExpression, Key: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (wrapped, key) = (try wrapped.compiled(compilation), try key.compiled(compilation))
        return { row throws(QueryError) in
            let wanted = try key(row)
            return try wrapped(row)[wanted]
        }
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: CompiledExpression
where Wrapped: CompiledExpression, Key: CompiledExpression, Default: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (wrapped, key) = (try wrapped.compiled(compilation), try key.compiled(compilation))
        let other = try `default`.compiled(compilation)
        return { row throws(QueryError) in
            let wanted = try key(row)
            if let value = try wrapped(row)[wanted] { return value }
            return try other(row)
        }
    }
}

extension PredicateExpressions.SequenceMaximum: CompiledExpression where Elements: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let elements = try elements.compiled(compilation)
        return { row throws(QueryError) in try elements(row).max() }
    }
}

extension PredicateExpressions.SequenceMinimum: CompiledExpression where Elements: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let elements = try elements.compiled(compilation)
        return { row throws(QueryError) in try elements(row).min() }
    }
}

extension PredicateExpressions.StringContainsRegex: CompiledExpression
where Subject: CompiledExpression, Regex: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let (subject, regex) = (try subject.compiled(compilation), try regex.compiled(compilation))
        return { row throws(QueryError) in
            let pattern = try regex(row)
            return try subject(row).contains(pattern)
        }
    }
}

// MARK: Types

extension PredicateExpressions.ConditionalCast: CompiledExpression where Input: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let input = try input.compiled(compilation)
        return { row throws(QueryError) in try input(row) as? Desired }
    }
}

extension PredicateExpressions.ForceCast: CompiledExpression where Input: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let input = try input.compiled(compilation)
        return { row throws(QueryError) in
            let value = try input(row)
            guard let cast = value as? Desired else {
                throw QueryError(.noValue, "the predicate casts a \(type(of: value)) to \(Desired.self)")
            }
            return cast
        }
    }
}

extension PredicateExpressions.TypeCheck: CompiledExpression where Input: CompiledExpression {
    func compiled<Row>(_ compilation: Compilation<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Output {
        let input = try input.compiled(compilation)
        return { row throws(QueryError) in try input(row) is Desired }
    }
}
