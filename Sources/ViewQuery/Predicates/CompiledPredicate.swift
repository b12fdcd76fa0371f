internal import Foundation

/// Tells of single rows whether they fit a descriptor's predicate.
public struct CompiledPredicate<Row: QueryRow> {
    private let test: ((borrowing Row) throws(QueryError) -> Bool)?

    /// - Throws: `.unsupported`.
    public init(_ descriptor: FetchDescriptor<Row>) throws(QueryError) {
        guard let predicate = descriptor.predicate else {
            test = nil
            return
        }
        guard let expression = predicate.expression as? any CompiledExpression<Bool> else {
            throw QueryError(.unsupported, "the predicate uses what this version cannot evaluate")
        }
        test = try expression.compiled(Compilation<Row>(predicate.variable.key))
    }

    /// - Throws: `.noValue`.
    public func holds(for row: borrowing Row) throws(QueryError) -> Bool { try test?(row) ?? true }
}
