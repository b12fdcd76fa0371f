public import Foundation
public import ViewQuery

/// A condition twice: as an expression of a predicate, and as a closure.
public struct Condition<Row: QueryRow>: Sendable {
    public typealias Expression = any StandardPredicateExpression<Bool>

    /// As a person would write it.
    public let text: String
    public let expression: @Sendable (PredicateExpressions.Variable<Row>) -> Expression
    public let holds: @Sendable (Row) -> Bool

    public var predicate: Predicate<Row> { Predicate { row in expression(row) } }

    public static func and(_ left: Condition, _ right: Condition) -> Condition {
        Condition(text: "(\(left.text) && \(right.text))") { row in
            conjunction(left.expression(row), right.expression(row))
        } holds: {
            left.holds($0) && right.holds($0)
        }
    }

    public static func or(_ left: Condition, _ right: Condition) -> Condition {
        Condition(text: "(\(left.text) || \(right.text))") { row in
            disjunction(left.expression(row), right.expression(row))
        } holds: {
            left.holds($0) || right.holds($0)
        }
    }

    public static func not(_ other: Condition) -> Condition {
        Condition(text: "!(\(other.text))") {
            negation(other.expression($0))
        } holds: {
            !other.holds($0)
        }
    }

    public static func choice(_ test: Condition, _ yes: Condition, _ no: Condition) -> Condition {
        Condition(text: "(\(test.text) ? \(yes.text) : \(no.text))") { row in
            conditional(test.expression(row), yes.expression(row), no.expression(row))
        } holds: {
            test.holds($0) ? yes.holds($0) : no.holds($0)
        }
    }

    // MARK: Opening what is not known before

    private static func conjunction(_ left: some StandardPredicateExpression<Bool>, _ right: Expression) -> Expression {
        func opened(_ right: some StandardPredicateExpression<Bool>) -> Expression {
            PredicateExpressions.build_Conjunction(lhs: left, rhs: right)
        }
        return opened(right)
    }

    private static func disjunction(_ left: some StandardPredicateExpression<Bool>, _ right: Expression) -> Expression {
        func opened(_ right: some StandardPredicateExpression<Bool>) -> Expression {
            PredicateExpressions.build_Disjunction(lhs: left, rhs: right)
        }
        return opened(right)
    }

    private static func negation(_ wrapped: some StandardPredicateExpression<Bool>) -> Expression {
        PredicateExpressions.build_Negation(wrapped)
    }

    private static func conditional(
        _ test: some StandardPredicateExpression<Bool>, _ yes: Expression, _ no: Expression
    ) -> Expression {
        func opened(_ yes: some StandardPredicateExpression<Bool>) -> Expression {
            func opened(_ no: some StandardPredicateExpression<Bool>) -> Expression {
                PredicateExpressions.build_Conditional(test, yes, no)
            }
            return opened(no)
        }
        return opened(yes)
    }
}
