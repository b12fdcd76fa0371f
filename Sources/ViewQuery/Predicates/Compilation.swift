internal import Foundation

/// The meanings of a predicate's variables while it is compiled.
struct Compilation<Row: QueryRow> {
    /// The variable that is the row.
    let variable: PredicateExpressions.VariableID
    /// The variables of the predicate's own closures, with the storage of their value: a `Slot`.
    private(set) var slots: [PredicateExpressions.VariableID: AnyObject] = [:]
    private let layouts = RowLayouts<Row>.shared
    let uses = ColumnUses()

    init(_ variable: PredicateExpressions.VariableID) { self.variable = variable }

    /// Reads the property; nil if it is not that of a column.
    func getter(of keyPath: AnyKeyPath) -> (any Sendable)? {
        guard let number = layouts.numbers.number(of: keyPath) else { return nil }
        uses.columns?.insert(number)
        return layouts.columns[number].getter
    }

    /// Whether the expression is the row itself.
    func isRow(_ expression: Any) -> Bool { (expression as? any VariableExpression).map { $0.key == variable } ?? false }

    /// A closure of the predicate: the slot of its variable, and its result.
    func closure<Value, Body: CompiledExpression>(
        of variable: PredicateExpressions.Variable<Value>, _ body: Body
    ) throws(QueryError) -> (slot: Slot<Value>, evaluate: (borrowing Row) throws(QueryError) -> Body.Output) {
        var inner = self
        let slot = Slot<Value>()
        inner.slots[variable.key] = slot
        return (slot, try body.compiled(inner))
    }
}

/// Records the columns that a predicate reads while it is compiled; nil once it reads the row as a whole.
final class ColumnUses {
    var columns: Set<Int>? = []
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

/// A compiled expression, used to find out whether its value is of a type.
final class CompiledBox<Row: QueryRow, Output> {
    let evaluate: (borrowing Row) throws(QueryError) -> Output

    init(_ evaluate: @escaping (borrowing Row) throws(QueryError) -> Output) { self.evaluate = evaluate }
}
