internal import Foundation

extension FetchDescriptor {
    /// The rows whose property has one of these values.
    public init<Value: Hashable & Codable & Sendable>(
        where property: any KeyPath<Row, Value> & Sendable, isIn values: [Value]
    ) {
        self.init(
            predicate: Predicate { row in
                PredicateExpressions.build_contains(
                    PredicateExpressions.build_Arg(values), PredicateExpressions.build_KeyPath(root: row, keyPath: property))
            })
    }

    /// The rows whose property has this value.
    public init<Value: Hashable & Codable & Sendable>(where property: any KeyPath<Row, Value> & Sendable, is value: Value) {
        self.init(
            predicate: Predicate { row in
                PredicateExpressions.build_Equal(
                    lhs: PredicateExpressions.build_KeyPath(root: row, keyPath: property),
                    rhs: PredicateExpressions.build_Arg(value))
            })
    }
}
