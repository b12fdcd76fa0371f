import EventLog
import MeshViews
import Projections
public import ViewQuery

extension Ledger {
    /// Passes every row of the query to `body`, in the descriptor's order, in constant memory if the order is that of the rows' keys.
    ///
    /// ```swift
    /// try await ledger.enumerate(FetchDescriptor<PositionRow>()) { row in print(row.latitude, row.longitude) }
    /// ```
    /// No read transaction is open while `body` runs: rows are read in batches, each in a short transaction that begins where the
    /// previous one ended, so that writers can reuse freed pages. Each row comes at most once; a row that changes meanwhile comes in its old state
    /// or in its new one. `fetch` and `snapshot` read consistently instead.
    ///
    /// - Parameters:
    ///   - batchSize: how many rows are read at once.
    ///   - allowsMutations: whether `body`, and tasks that it starts, may append to a log meanwhile; otherwise that throws `.mutationDuringEnumeration`.
    /// - Throws: what `fetch` throws, and what `body` throws.
    public func enumerate<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>, batchSize: Int = 5_000, allowsMutations: Bool = false,
        _ body: (Row) async throws -> Void
    ) async throws {
        guard allowsMutations else {
            return try await AppendGuard.refusingAppends { try await visitBatches(descriptor, batchSize, body) }
        }
        try await visitBatches(descriptor, batchSize, body)
    }

    private func visitBatches<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>, _ batchSize: Int, _ body: (Row) async throws -> Void
    ) async throws {
        var batches = try wrappingErrors { try QueryBatches(descriptor, size: batchSize, self) }
        while let rows = try next(&batches) {
            for row in rows { try await body(row) }
        }
    }

    /// The next rows of a query that is read in batches, nil after the last.
    /// - Throws: what `fetch` throws.
    public func next<Row>(_ batches: inout QueryBatches<Row>) throws(LedgerError) -> [Row]? {
        try wrappingErrors { try batches.next { try store(of: Row.view) } }
    }

    /// The rows of the query as a stream, read on demand: if you stop early, the rest is not read.
    ///
    /// ```swift
    /// for try await message in ledger.stream(FetchDescriptor<MessageRow>()) where message.text == "stop" { break }
    /// ```
    /// What `enumerate` states about transactions, memory and rows that change meanwhile also applies here. Appending meanwhile is allowed.
    ///
    /// - Parameter batchSize: how many rows are read at once; the first batches are smaller.
    public func stream<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>, batchSize: Int = 500) -> RowStream<Row> {
        RowStream(ledger: self, descriptor: descriptor, batchSize: max(1, batchSize))
    }
}

/// Rows of a query as they are read, see `Ledger.stream`.
public struct RowStream<Row: QueryRow>: AsyncSequence, Sendable {
    let ledger: Ledger
    let descriptor: FetchDescriptor<Row>
    let batchSize: Int

    public func makeAsyncIterator() -> Iterator { Iterator(ledger: ledger, descriptor: descriptor, batchSize: batchSize) }

    public struct Iterator: AsyncIteratorProtocol {
        let ledger: Ledger
        let descriptor: FetchDescriptor<Row>
        let batchSize: Int
        private var batches: QueryBatches<Row>?
        /// The rows that were read and not returned yet, the next one last.
        private var rows: [Row] = []

        init(ledger: Ledger, descriptor: FetchDescriptor<Row>, batchSize: Int) {
            (self.ledger, self.descriptor, self.batchSize) = (ledger, descriptor, batchSize)
        }

        /// - Returns: nil after the last row, and when the task is cancelled.
        /// - Throws: what `fetch` throws.
        public mutating func next() async throws(LedgerError) -> Row? {
            guard !Task.isCancelled else { return nil }
            if rows.isEmpty { try read() }
            return rows.popLast()
        }

        private mutating func read() throws(LedgerError) {
            var batches: QueryBatches<Row>
            if let known = self.batches {
                batches = known
                batches.size = Swift.min(batchSize, batches.size * 2)
            } else {
                batches = try ledger.wrappingErrors { try QueryBatches(descriptor, size: Swift.min(batchSize, 16), ledger) }
            }
            self.batches = nil
            rows = try ledger.next(&batches)?.reversed() ?? []
            self.batches = batches
        }
    }
}
