import Projections
public import ViewQuery

extension Ledger {
    /// The rows that the descriptor asks for, read in one consistent view of them.
    ///
    /// - Throws: `.query` where the predicate cannot be evaluated, has no value for a row, or would need a scan that the descriptor refuses.
    public func fetch<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> [Row] {
        try answering(descriptor) { run, store in try run.rows(in: store) }
    }

    /// How many rows `fetch` would give. Where the predicate is about the row's key only, no row is decoded.
    public func fetchCount<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> Int {
        try answering(descriptor) { run, store in try run.count(in: store) }
    }

    /// How the query is answered: by ranges of keys or a scan, and what is done with each row.
    public func explain<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> QueryExplanation {
        do {
            return try QueryRun(descriptor).explanation
        } catch {
            throw LedgerError(.query, path: path, error.description, underlying: error)
        }
    }

    private func answering<Row: QueryRow, Result>(
        _ descriptor: FetchDescriptor<Row>, _ body: (QueryRun<Row>, ViewStore) throws -> Result
    ) throws(LedgerError) -> Result {
        do {
            return try body(QueryRun(descriptor), store(of: Row.view))
        } catch {
            if let error = error as? QueryError {
                let code: LedgerError.Code = error.code == .malformedRow ? .corrupt : .query
                throw LedgerError(code, path: path, error.description, underlying: error)
            }
            throw LedgerError(error, path: path)
        }
    }
}
