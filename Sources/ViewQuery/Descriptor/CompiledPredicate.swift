internal import Foundation

/// Tests whether single rows match a descriptor's predicate.
public struct CompiledPredicate<Row: QueryRow> {
    private let filter: RowFilter<Row>?

    /// - Throws: `.unsupported`.
    public init(_ descriptor: FetchDescriptor<Row>) throws(QueryError) {
        filter = try RowFilter(descriptor.predicate, descriptor.textConditions)
    }

    /// - Throws: `.noValue`.
    public func holds(for row: borrowing Row) throws(QueryError) -> Bool { try filter?.holds(row) ?? true }
}
