import MeshViews

extension Ledger {
    /// The nodes that a query asks for, or the one of them that is named: it is chosen before rows are counted for the page.
    func nodes(_ query: RowQuery, only number: UInt32?) throws -> [NodeRow] {
        guard let number else { return try nodes(query) }
        var every = query
        (every.limit, every.offset) = (.max, 0)
        let rows = try nodes(every).filter { $0.number == number }
        return Array(rows.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
    }
}
