import Foundation
import LMDB
import Logging
import MeshViews
import Projections
public import ViewQuery

/// Which state of a view a query reads.
public enum ReadConsistency: Sendable {
    /// The last commit. Views commit automatically: see `FlushPolicy`.
    case committed
    /// Everything that was appended before the query: views are flushed first. A ledger that is open for reading only does not control the process
    /// that writes, and reads what that process has committed.
    case latest
}

extension Ledger {
    /// The rows of the query, read in one consistent view of them.
    ///
    /// ```swift
    /// let since: UInt32 = 1_790_000_000
    /// let rows = try ledger.fetch(FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == 0x1902_5c00 && $0.time >= since }))
    /// ```
    /// - Throws: `.query` if the predicate cannot be evaluated, has no value for a row, or would need a scan that the descriptor refuses.
    public func fetch<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> [Row] {
        try answering(descriptor) { run, store in try run.rows(in: store) }
    }

    /// The same; `.latest` includes everything that was appended before.
    /// - Throws: as `fetch`.
    public func fetch<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>, _ consistency: ReadConsistency
    ) async throws(LedgerError) -> [Row] {
        try await prepare(consistency)
        return try fetch(descriptor)
    }

    /// How many rows `fetch` would return. If the predicate uses only the row's key, no row is decoded.
    /// - Throws: as `fetch`.
    public func fetchCount<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> Int {
        try answering(descriptor) { run, store in try run.count(in: store) }
    }

    /// The rows after the descriptor's cursor, the cursor after them, and how many rows match the predicate, all as of one point in time.
    ///
    /// ```swift
    /// var newest = FetchDescriptor<MessageRow>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 50)
    /// let page = try ledger.page(newest)
    /// newest.after = page.next
    /// ```
    /// - Throws: as `fetch`; also if the cursor belongs to another order, or the order is not by numbers.
    public func page<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> QueryPage<Row> {
        try answering(descriptor) { run, store in try run.page(in: store) }
    }

    /// The same; `.latest` includes everything that was appended before.
    /// - Throws: as `fetch`.
    public func fetchCount<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>, _ consistency: ReadConsistency
    ) async throws(LedgerError) -> Int {
        try await prepare(consistency)
        return try fetchCount(descriptor)
    }

    /// The identifiers of the rows that `fetch` would return, in the same order. If the predicate uses only the row's key, no row is decoded.
    /// - Throws: as `fetch`.
    public func fetchIdentifiers<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>
    ) throws(LedgerError) -> [RowIdentifier<Row>] {
        try answering(descriptor) { run, store in try run.identifiers(in: store) }
    }

    /// The first of the rows that `fetch` would return, nil if there are none.
    /// - Throws: as `fetch`.
    public func fetchFirst<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> Row? {
        var one = descriptor
        one.fetchLimit = min(1, descriptor.fetchLimit ?? 1)
        return try fetch(one).first
    }

    /// The row with this identifier; nil if it no longer exists.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func row<Row: QueryRow>(_ identifier: RowIdentifier<Row>) throws(LedgerError) -> Row? {
        try answering(FetchDescriptor<Row>()) { run, store in
            let transaction = try store.environment.beginRead()
            return try run.row(identifier, in: store, transaction)
        }
    }

    /// The distinct values of a property, in the order of the first rows that have them. Memory grows with the values.
    /// - Throws: as `fetch`.
    public func fetchDistinct<Row: QueryRow, Value: Hashable & Sendable>(
        _ property: any KeyPath<Row, Value> & Sendable, of descriptor: FetchDescriptor<Row> = FetchDescriptor()
    ) throws(LedgerError) -> [Value] {
        let value = Row.getter(property)
        return try answering(descriptor) { run, store in
            try run.distinct(in: store, store.environment.beginRead()) { value($0) }
        }
    }

    /// The rows of the query that are current by every unique rule: see `UniqueRule`.
    /// - Throws: as `fetch`.
    public func fetchCurrent<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> [Row] {
        try wrappingErrors { try UniqueRows<Row>(in: store(of: Row.view), self).current(descriptor) }
    }

    /// How the query is answered: by key ranges or a scan, and what is done with each row.
    /// - Throws: `.query` if the query cannot be answered.
    public func explain<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> QueryExplanation {
        try wrappingErrors {
            let store = try? store(of: Row.view)  // without a built view, the plan includes every possible check
            return try QueryRun(store.map { descriptor.settled(in: $0) } ?? descriptor, self).explanation
        }
    }

    // MARK: For screens that show no errors

    /// The result of `fetch`; an error is logged with the name of the operation, and the result is empty.
    public func fetchOrEmpty<Row: QueryRow>(_ operation: String, _ descriptor: FetchDescriptor<Row>) -> [Row] {
        orElse(operation, []) { () throws(LedgerError) in try fetch(descriptor) }
    }

    /// The result of `fetchCount`; an error is logged with the name of the operation, and the count is 0.
    public func fetchCountOrZero<Row: QueryRow>(_ operation: String, _ descriptor: FetchDescriptor<Row>) -> Int {
        orElse(operation, 0) { () throws(LedgerError) in try fetchCount(descriptor) }
    }

    private func orElse<Result>(_ operation: String, _ other: Result, _ body: () throws(LedgerError) -> Result) -> Result {
        do throws(LedgerError) {
            return try body()
        } catch {
            options.logger.error("\(operation): \(error.description)")
            return other
        }
    }

    // MARK: Running

    func prepare(_ consistency: ReadConsistency) async throws(LedgerError) {
        if consistency == .latest, !isReadOnly { try await flush() }
    }

    func answering<Row: QueryRow, Result>(
        _ descriptor: FetchDescriptor<Row>, _ body: (QueryRun<Row>, ViewStore) throws -> Result
    ) throws(LedgerError) -> Result {
        try wrappingErrors {
            let store = try store(of: Row.view)
            do {
                return try answer(descriptor, in: store, body)
            } catch let error as StorageError where error.code == .closed {
                // Another store may just have been swapped in.
                let current = try self.store(of: Row.view)
                guard current !== store else { throw error }
                return try answer(descriptor, in: current, body)
            }
        }
    }

    /// If a row is archived for the first time while the query assumes that none is, the query is repeated.
    private func answer<Row: QueryRow, Result>(
        _ descriptor: FetchDescriptor<Row>, in store: ViewStore, _ body: (QueryRun<Row>, ViewStore) throws -> Result
    ) throws -> Result {
        let settled = descriptor.settled(in: store)
        let result = try body(QueryRun(settled, self), store)
        guard Row.archive != nil, settled.isStale(in: store) else { return result }
        return try body(QueryRun(descriptor, self), store)
    }
}

extension Ledger.Maintenance {
    /// What is wrong with the indexes of a view, compared with its rows; nil if nothing is, or if they are not built.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func indexFault(of view: String) throws(LedgerError) -> String? {
        let indexes = try ledger.definition(view).indexes
        return try ledger.reading(view) { (store) throws(StorageError) in
            for indexed in indexes {
                if let fault = try store.fault(of: indexed) { return fault }
            }
            return nil
        }
    }

    /// Whether the indexes of a view match its present rows: not while it is rebuilt, or if only an earlier program has written it.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func isIndexed(_ view: String) throws(LedgerError) -> Bool {
        let indexes = try ledger.definition(view).rows.flatMap { $0.indexedTables }
        return try ledger.reading(view) { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            for indexed in indexes where try !store.isIndexed(indexed, in: transaction) { return false }
            return true
        }
    }
}
