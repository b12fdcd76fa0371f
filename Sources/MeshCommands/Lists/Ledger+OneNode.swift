import MeshLedger
import ViewQuery

extension Ledger {
    /// The nodes that match a query, or the one that is named: it is selected before rows are counted for the page.
    func nodes(_ query: RowQuery, only number: UInt32?, with pattern: TextPattern? = nil) throws -> [NodeRow] {
        guard let number else { return try pattern.map { try nodes(with: $0, query) } ?? nodes(query) }
        var every = query
        (every.limit, every.offset) = (.max, 0)
        let rows = try (pattern.map { try nodes(with: $0, every) } ?? nodes(every)).filter { $0.number == number }
        return Array(rows.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
    }
}
