public import EventLog
import LMDB
import MeshViews
import Projections
public import ViewQuery

/// Views as of one point in time: later writes are not visible. See `Ledger.snapshot`.
///
/// It is valid only within the closure that receives it.
///
/// ```swift
/// let counts = try ledger.snapshot { snapshot in
///     (try snapshot.fetchCount(FetchDescriptor<NodeRow>()), try snapshot.fetchCount(FetchDescriptor<MessageRow>()))
/// }
/// ```
public final class LedgerSnapshot {
    let ledger: Ledger
    private let timeLimit: Duration
    private let end: ContinuousClock.Instant
    private var reads: [String: ViewRead] = [:]
    private var isOver = false

    fileprivate init(_ ledger: Ledger, _ timeLimit: Duration) {
        (self.ledger, self.timeLimit) = (ledger, timeLimit)
        end = .now + timeLimit
    }

    /// The rows of the query.
    /// - Throws: as `Ledger.fetch`; `.snapshotExpired` after the time limit.
    public func fetch<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> [Row] {
        try answering(descriptor) { run, store, transaction in try run.rows(in: store, transaction) }
    }

    /// How many rows `fetch` would return.
    /// - Throws: as `fetch`.
    public func fetchCount<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>) throws(LedgerError) -> Int {
        try answering(descriptor) { run, store, transaction in try run.count(in: store, transaction) }
    }

    /// The identifiers of the rows that `fetch` would return, in the same order.
    /// - Throws: as `fetch`.
    public func fetchIdentifiers<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>
    ) throws(LedgerError) -> [RowIdentifier<Row>] {
        try answering(descriptor) { run, store, transaction in try run.identifiers(in: store, transaction) }
    }

    /// The row with this identifier, nil if it does not exist.
    /// - Throws: `.snapshotExpired` after the time limit, and errors of the file.
    public func row<Row: QueryRow>(_ identifier: RowIdentifier<Row>) throws(LedgerError) -> Row? {
        try answering(FetchDescriptor<Row>()) { run, store, transaction in try run.row(identifier, in: store, transaction) }
    }

    /// The rows of the query in groups, by a property.
    /// - Throws: as `fetch`.
    public func grouped<Row: QueryRow, Key: Hashable & Sendable>(
        _ descriptor: FetchDescriptor<Row>, by property: any KeyPath<Row, Key> & Sendable, _ aggregates: [Aggregate<Row>] = []
    ) throws(LedgerError) -> [QueryGroup<Key>] {
        let key = Row.getter(property)
        return try answering(descriptor) { run, store, transaction in
            try run.groups(in: store, transaction, by: key, aggregates)
        }
    }

    /// The last event that the view has folded in this snapshot. If two views have the same, their rows are consistent with each other.
    /// - Throws: `.snapshotExpired` after the time limit, and errors of the file.
    public func checkpoint(of view: String) throws(LedgerError) -> EventSequence {
        let read = try read(view)
        return try ledger.wrappingErrors { EventSequence(rawValue: try read.store.checkpoint(in: read.transaction).sequence) }
    }

    func answering<Row: QueryRow, Result>(
        _ descriptor: FetchDescriptor<Row>, _ body: (QueryRun<Row>, ViewStore, borrowing ReadTransaction) throws -> Result
    ) throws(LedgerError) -> Result {
        let read = try read(Row.view)
        return try ledger.wrappingErrors {
            let run = try QueryRun(descriptor.settled(in: read.store, read.transaction), self)
            return try body(run, read.store, read.transaction)
        }
    }

    func read(_ view: String) throws(LedgerError) -> ViewRead {
        guard !isOver, ContinuousClock.now < end else {
            throw LedgerError(
                .snapshotExpired, path: ledger.path,
                isOver
                    ? "a snapshot was used after its closure had ended; return what you need from it"
                    : "a snapshot was read from for longer than \(timeLimit), which keeps freed pages of the view from being reused; "
                        + "read less at once, or enumerate")
        }
        if let known = reads[view] { return known }
        let store = try ledger.store(of: view)
        return try ledger.wrappingErrors {
            let read = try ViewRead(store)
            reads[view] = read
            return read
        }
    }

    /// Begins reading the views. If several are named, they are opened repeatedly, a few times, until all have folded the same events.
    fileprivate func begin(_ views: [String]) throws(LedgerError) {
        for _ in 0..<5 {
            reads.removeAll()
            var checkpoints: Set<EventSequence> = []
            for view in views { checkpoints.insert(try checkpoint(of: view)) }
            if checkpoints.count <= 1 { return }
        }
    }

    fileprivate func finish() {
        isOver = true
        reads.removeAll()
    }
}

extension Ledger {
    /// Reads several results from one state of a view: later writes are not visible.
    ///
    /// ```swift
    /// let (rows, count) = try ledger.snapshot { snapshot in
    ///     (try snapshot.fetch(page), try snapshot.fetchCount(all))
    /// }
    /// ```
    /// Each view has a separate transaction, which begins with its first read, or here for those that are named. Views are committed one by one, so
    /// two of them can be at different events, which `checkpoint(of:)` returns. Views that are named together are opened a few times to find
    /// them at the same event.
    ///
    /// - Parameters:
    ///   - timeLimit: how long it may be read from. An open read keeps the pages that writers free from being reused, so a view that is written
    ///     to grows meanwhile.
    /// - Throws: what `body` throws; reads throw `.snapshotExpired` after the time limit.
    public func snapshot<Result>(
        of views: [String] = [], timeLimit: Duration = .milliseconds(100), _ body: (LedgerSnapshot) throws -> Result
    ) throws -> Result {
        let snapshot = LedgerSnapshot(self, timeLimit)
        defer { snapshot.finish() }
        try snapshot.begin(views)
        return try body(snapshot)
    }

    /// The same; `.latest` includes everything that was appended before.
    /// - Throws: what `body` throws; reads throw `.snapshotExpired` after the time limit.
    public func snapshot<Result>(
        of views: [String] = [], timeLimit: Duration = .milliseconds(100), _ consistency: ReadConsistency,
        _ body: (LedgerSnapshot) throws -> Result
    ) async throws -> Result {
        try await prepare(consistency)
        return try snapshot(of: views, timeLimit: timeLimit, body)
    }
}
