import MeshViews
public import ViewQuery

extension Ledger {
    /// Chosen properties of the query's rows: only these are decoded.
    ///
    /// ```swift
    /// for (from, text) in try ledger.select(\MessageRow.from, \MessageRow.text) { print(from, text) }
    /// ```
    /// - Throws: as `fetch`.
    public func select<Row: QueryRow, each Value: Sendable>(
        _ properties: repeat any KeyPath<Row, each Value> & Sendable, of descriptor: FetchDescriptor<Row> = FetchDescriptor()
    ) throws(LedgerError) -> [(repeat each Value)] {
        var chosen = descriptor.whole
        repeat chosen.propertiesToFetch.append(each properties)
        let getters = (repeat Row.getter(each properties))
        return try fetch(chosen).map { row in (repeat (each getters)(row)) }
    }
}
