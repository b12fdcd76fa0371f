internal import Foundation

/// What a predicate's variables stand for while it is compiled.
struct Compilation<Row: QueryRow> {
    /// The variable that is the row.
    let variable: PredicateExpressions.VariableID
    /// The variables of the predicate's own closures, by what holds their value: a `Slot`.
    private(set) var slots: [PredicateExpressions.VariableID: AnyObject] = [:]
    /// By key path: finding one takes long, and each is needed once.
    let columns: [AnyKeyPath: any Sendable]

    init(_ variable: PredicateExpressions.VariableID) {
        self.variable = variable
        columns = Dictionary(Row.columns.map { ($0.keyPath as AnyKeyPath, $0.getter) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the expression is the row itself.
    func isRow(_ expression: Any) -> Bool { (expression as? any VariableExpression).map { $0.key == variable } ?? false }

    /// Where a closure of the predicate finds the value of its variable.
    mutating func bind<Value>(_ variable: PredicateExpressions.Variable<Value>) -> Slot<Value> {
        let slot = Slot<Value>()
        slots[variable.key] = slot
        return slot
    }
}

/// Holds the value of a variable while a closure of the predicate is evaluated. It belongs to one compiled predicate, which is evaluated for one row
/// at a time.
final class Slot<Value> {
    var value: Value?

    func bound() throws(QueryError) -> Value {
        guard let value else { throw QueryError(.unsupported, "a closure of the predicate uses a variable of another one") }
        return value
    }
}

/// A compiled expression, for finding out whether its value is of a type.
final class CompiledBox<Row: QueryRow, Output> {
    let evaluate: (borrowing Row) throws(QueryError) -> Output

    init(_ evaluate: @escaping (borrowing Row) throws(QueryError) -> Output) { self.evaluate = evaluate }
}
