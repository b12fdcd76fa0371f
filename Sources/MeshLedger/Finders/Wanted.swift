import Foundation
import ViewQuery

/// What rows a finder wants by one property: a key or an index that has the property narrows what is read.
package struct Wanted<Row: QueryRow>: Sendable {
    /// Nil if any value will do.
    let condition: RowColumn<Row>.Condition?

    /// The rows with this value; all if it is nil.
    static func equal<Value: Equatable & Codable & Sendable>(
        _ property: any KeyPath<Row, Value> & Sendable, _ value: Value?
    ) -> Wanted {
        any(of: [property], value)
    }

    /// The rows with this value in one of the properties; all if it is nil.
    static func any<Value: Equatable & Codable & Sendable>(
        of properties: [any KeyPath<Row, Value> & Sendable], _ value: Value?
    ) -> Wanted {
        guard let value, let first = properties.first else { return Wanted(condition: nil) }
        return Wanted { row in
            var condition = equal(first, value, of: row)
            for property in properties.dropFirst() { condition = either(condition, equal(property, value, of: row)) }
            return condition
        }
    }

    private static func equal<Value: Equatable & Codable & Sendable>(
        _ property: any KeyPath<Row, Value> & Sendable, _ value: Value, of row: PredicateExpressions.Variable<Row>
    ) -> any StandardPredicateExpression<Bool> {
        PredicateExpressions.build_Equal(
            lhs: PredicateExpressions.build_KeyPath(root: row, keyPath: property), rhs: PredicateExpressions.build_Arg(value))
    }

    private static func either(
        _ left: some StandardPredicateExpression<Bool>, _ right: some StandardPredicateExpression<Bool>
    ) -> any StandardPredicateExpression<Bool> {
        PredicateExpressions.build_Disjunction(lhs: left, rhs: right)
    }
}
