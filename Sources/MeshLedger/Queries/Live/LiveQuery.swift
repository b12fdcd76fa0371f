import MeshViews
public import Projections
public import ViewQuery

/// The results of a query, a new one whenever a commit has changed it. See `Ledger.observe`.
///
/// ```swift
/// for try await result in ledger.observe(FetchDescriptor<NodeRow>()) { print(result.rows.count) }
/// ```
public struct LiveQuery<Row: QueryRow>: AsyncSequence, Sendable {
    let ledger: Ledger
    let descriptor: FetchDescriptor<Row>
    let start: LiveQueryToken?

    public func makeAsyncIterator() -> Iterator { Iterator(query: self) }

    /// The rows as of one point in time.
    public struct Result: Sendable {
        public let rows: [Row]
        /// The token from which `observe` continues, in this process or in a later one.
        public let token: LiveQueryToken
    }

    public struct Iterator: AsyncIteratorProtocol {
        private let query: LiveQuery
        private var state: LiveQueryState<Row>?

        init(query: LiveQuery) { self.query = query }

        /// The next result that differs from the previous one; waits until there is one.
        ///
        /// - Returns: nil when the task is cancelled.
        /// - Throws: what `fetch` throws, and `.closed` when the ledger has been closed.
        public mutating func next() async throws(LedgerError) -> Result? {
            var state: LiveQueryState<Row>
            if let known = self.state {
                state = known
            } else {
                state = try LiveQueryState(query.descriptor, after: query.start, query.ledger)
            }
            defer { self.state = state }
            var pace = PollPace()
            while !Task.isCancelled {
                let commits = query.ledger.served.commits.value
                if let rows = try state.changed(query.ledger), let token = state.token { return Result(rows: rows, token: token) }
                await query.ledger.served.waitForCommit(past: commits, &pace)
            }
            return nil
        }
    }
}

/// Identifies the last result of a live query that a client has seen. It can be kept as text across restarts.
public struct LiveQueryToken: Sendable, Hashable, Codable {
    /// The last change of the view that the result includes.
    public let position: ChangePosition
    /// A hash of the result's keys and rows.
    let digest: [UInt8]
}

extension Ledger {
    /// The rows of a query, now and whenever a commit has changed them. A commit that changes only other rows, or nothing in them, produces
    /// no result.
    ///
    /// ```swift
    /// for try await result in ledger.observe(FetchDescriptor<NodeRow>(sortBy: [SortDescriptor(\.lastHeard, order: .reverse)])) {
    ///     show(result.rows)
    /// }
    /// ```
    /// Several commits in quick succession can produce one result, the last. This also works in a process that only reads. Cancelling the
    /// task ends it.
    ///
    /// - Parameter token: of the last seen result, for example in an earlier process: the first result is one that differs from it. Nil
    ///   for the present result first.
    public func observe<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>, after token: LiveQueryToken? = nil) -> LiveQuery<Row> {
        LiveQuery(ledger: self, descriptor: descriptor, start: token)
    }
}
