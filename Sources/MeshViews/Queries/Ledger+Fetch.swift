import LMDB
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

    /// The rows behind the descriptor's cursor, the cursor behind them, and how many rows the predicate holds for, all as of one moment.
    ///
    /// ```swift
    /// var newest = FetchDescriptor<MessageRow>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 50)
    /// let page = try ledger.page(newest)
    /// newest.after = page.next
    /// ```
    /// - Throws: as `fetch`; also where the cursor is of another order, or the order is not by numbers.
    public func page<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> QueryPage<Row> {
        try answering(descriptor) { run, store in try run.page(in: store) }
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
            throw queryError(error)
        }
    }

    func queryError(_ error: any Error) -> LedgerError {
        guard let error = error as? QueryError else { return LedgerError(error, path: path) }
        let code: LedgerError.Code = error.code == .malformedRow ? .corrupt : .query
        return LedgerError(code, path: path, error.description, underlying: error)
    }
}

extension Ledger {
    /// What is wrong with the indexes of a view, compared with its rows; nil where nothing is, or where they are not built.
    public func indexFault(of view: String) throws(LedgerError) -> String? {
        let indexes = try definition(view).indexes
        return try reading(view) { (store) throws(StorageError) in
            for indexed in indexes {
                if let fault = try store.fault(of: indexed) { return fault }
            }
            return nil
        }
    }

    /// Whether the indexes of a view are those of its rows as they are now: not, while it is built anew or only an earlier program has written it.
    public func isIndexed(_ view: String) throws(LedgerError) -> Bool {
        let indexes = try definition(view).indexes
        return try reading(view) { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            for indexed in indexes where try !store.isIndexed(indexed, in: transaction) { return false }
            return true
        }
    }
}
