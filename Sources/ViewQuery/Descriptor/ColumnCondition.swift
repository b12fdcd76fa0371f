public import Foundation

/// A comparison of a column with a text, by a program that knows a row only by its columns.
public enum ColumnComparison: String, Sendable, CaseIterable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
}

extension RowColumn {
    public typealias Condition = @Sendable (PredicateExpressions.Variable<Row>) -> any StandardPredicateExpression<Bool>

    /// The comparison as a part of a predicate, so that it can use key ranges and indexes.
    ///
    /// - Returns: nil if the property is not a number, text or Boolean, or the text is not a value of it.
    public func condition(_ comparison: ColumnComparison, _ text: String) -> Condition? {
        if let found = typed(comparison, UInt32(text)) { return found }
        if let found = typed(comparison, UInt64(text)) { return found }
        if let found = typed(comparison, UInt8(text)) { return found }
        if let found = typed(comparison, UInt16(text)) { return found }
        if let found = typed(comparison, Int32(text)) { return found }
        if let found = typed(comparison, Int64(text)) { return found }
        if let found = typed(comparison, Int(text)) { return found }
        if let found = typed(comparison, Float(text)) { return found }
        if let found = typed(comparison, Double(text)) { return found }
        if let found = typed(comparison, text) { return found }
        return equal(comparison, Bool(text))
    }

    private func path<Value>(_ type: Value.Type) -> (any KeyPath<Row, Value> & Sendable)? {
        guard let path = keyPath as? KeyPath<Row, Value> else { return nil }
        // The cast drops the information that it is Sendable.
        return unsafe unsafeBitCast(path, to: (any KeyPath<Row, Value> & Sendable).self)
    }

    private func typed<Value: Comparable & Codable & Sendable>(_ comparison: ColumnComparison, _ value: Value?) -> Condition? {
        guard let value, let path = path(Value.self) else { return nil }
        return { variable in
            let property = PredicateExpressions.build_KeyPath(root: variable, keyPath: path)
            let constant = PredicateExpressions.build_Arg(value)
            return switch comparison {
            case .equal: PredicateExpressions.build_Equal(lhs: property, rhs: constant)
            case .notEqual: PredicateExpressions.build_NotEqual(lhs: property, rhs: constant)
            case .less: PredicateExpressions.build_Comparison(lhs: property, rhs: constant, op: .lessThan)
            case .lessOrEqual: PredicateExpressions.build_Comparison(lhs: property, rhs: constant, op: .lessThanOrEqual)
            case .greater: PredicateExpressions.build_Comparison(lhs: property, rhs: constant, op: .greaterThan)
            case .greaterOrEqual: PredicateExpressions.build_Comparison(lhs: property, rhs: constant, op: .greaterThanOrEqual)
            }
        }
    }

    private func equal(_ comparison: ColumnComparison, _ value: Bool?) -> Condition? {
        guard let value, let path = path(Bool.self), comparison == .equal || comparison == .notEqual else { return nil }
        return { variable in
            let property = PredicateExpressions.build_KeyPath(root: variable, keyPath: path)
            let constant = PredicateExpressions.build_Arg(comparison == .equal ? value : !value)
            return PredicateExpressions.build_Equal(lhs: property, rhs: constant)
        }
    }

    /// - Returns: nil if sort descriptors cannot order the property.
    public func order(_ order: SortOrder) -> SortDescriptor<Row>? {
        func first(_ types: [any Comparable.Type]) -> SortDescriptor<Row>? {
            for type in types { if let found = sorted(type, order) { return found } }
            return nil
        }
        return first([
            UInt8.self, UInt16.self, UInt32.self, UInt64.self, Int32.self, Int64.self, Int.self, Float.self, Double.self,
            Date.self,
            String.self,
        ])
    }

    private func sorted<Value: Comparable>(_ type: Value.Type, _ order: SortOrder) -> SortDescriptor<Row>? {
        if let path = path(Value.self) { return SortDescriptor(path, order: order) }
        return path(Value?.self).map { SortDescriptor($0, order: order) }
    }
}

extension FetchDescriptor {
    /// The rows that meet all conditions.
    public init(all conditions: [RowColumn<Row>.Condition]) {
        func both(
            _ left: some StandardPredicateExpression<Bool>, _ right: some StandardPredicateExpression<Bool>
        ) -> any StandardPredicateExpression<Bool> {
            PredicateExpressions.build_Conjunction(lhs: left, rhs: right)
        }
        self.init()
        guard let first = conditions.first else { return }
        predicate = Predicate<Row> { variable in
            var all = first(variable)
            for condition in conditions.dropFirst() { all = both(all, condition(variable)) }
            return all
        }
    }
}
