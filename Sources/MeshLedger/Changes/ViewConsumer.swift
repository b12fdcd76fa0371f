import EventLog
import MeshViews
public import Projections
import Synchronization

/// Follows the changes of a view and durably remembers its position.
///
/// ```swift
/// let consumer = try ledger.changes.consumer(named: "map", of: "positions")
/// while let news = try await consumer.next() {
///     for change in news.changes { change.value == nil ? remove(change.key) : put(change.key, change.value) }
///     try consumer.acknowledge(news)
/// }
/// ```
/// It receives all rows first, then every change at least once: changes that were not acknowledged when the process ended are delivered again, and
/// rows from the start until all of them are acknowledged. Any process that may write to the folder can have consumers; one process at a time uses a
/// name.
///
/// Synchronization: the positions are behind a mutex; acknowledging holds it while the file is replaced.
public final class ViewConsumer: Sendable {
    /// The contents of a consumer's file: `view NAME feed F number N`, or `view NAME rows`.
    struct Place: Sendable, Equatable {
        var view: String
        var position: ChangePosition?

        var text: String {
            let rest = position.map { "feed \($0.feed) number \($0.number)" } ?? "rows"
            return "view \(view) \(rest)\n"
        }
    }

    /// The position in the reading of all rows.
    private struct Rows {
        /// The position of the last change before it began.
        let begin: ChangePosition
        var table = 0
        var key: [UInt8]?
    }

    private struct State {
        var place: Place
        var given: ChangePosition?
        var rows: Rows?
    }

    public let name: String
    public let view: String
    private let ledger: Ledger
    private let lease: ConsumerLease
    private let state: Mutex<State>

    init(_ ledger: Ledger, _ lease: ConsumerLease, _ place: Place) {
        self.ledger = ledger
        self.lease = lease
        (name, view) = (lease.name, place.view)
        state = Mutex(State(place: place, given: place.position))
    }

    /// The last acknowledged position; it survives the process. Nil while it receives its initial rows.
    public var position: ChangePosition? { state.withLock { $0.place.position } }

    /// The next changes, without waiting: empty if there are none.
    ///
    /// - Throws: `.changesLost` if it has to start over, see `Ledger.Changes.fetch(of:since:limit:)`.
    public func available(limit: Int = 1_000) throws(LedgerError) -> ViewChanges {
        try state.withLock { state throws(LedgerError) in
            if let given = state.given {
                let news = try ledger.changes.fetch(of: view, since: given, limit: limit)
                state.given = news.position
                return news
            }
            return try rows(&state, limit)
        }
    }

    private func rows(_ state: inout State, _ limit: Int) throws(LedgerError) -> ViewChanges {
        let limit = max(1, limit)
        let tables = try ledger.rowTables(of: view)
        var rows: Rows
        if let known = state.rows { rows = known } else { rows = Rows(begin: try ledger.changes.position(of: view)) }
        var found: [ViewChange] = []
        while found.isEmpty, rows.table < tables.count {
            found = try ledger.changes.rows(of: view, table: tables[rows.table], after: rows.key, limit: limit)
            rows.key = found.last?.key
            while rows.table < tables.count {
                let more = try ledger.changes.rows(of: view, table: tables[rows.table], after: rows.key, limit: 1)
                guard more.isEmpty else { break }
                (rows.table, rows.key) = (rows.table + 1, nil)
            }
        }
        state.rows = rows
        let isLast = rows.table == tables.count
        if isLast { state.given = rows.begin }
        if found.isEmpty { try store(rows.begin, &state) }
        return ViewChanges(changes: found, position: rows.begin, isPartOfRows: !isLast)
    }

    /// The next changes; waits until there are some.
    /// - Returns: nil when the task is cancelled.
    /// - Throws: `.changesLost` if it has to start over, see `Ledger.Changes.fetch(of:since:limit:)`.
    public func next(limit: Int = 1_000) async throws(LedgerError) -> ViewChanges? {
        var pace = PollPace()
        while !Task.isCancelled {
            let commits = ledger.served.commits.value
            let news = try available(limit: limit)
            if !news.changes.isEmpty { return news }
            await ledger.served.waitForCommit(past: commits, &pace)
        }
        return nil
    }

    /// Durably acknowledges these changes, and all that were returned before.
    ///
    /// - Throws: `.closed` after `close()`, and errors of the disk.
    public func acknowledge(_ news: ViewChanges) throws(LedgerError) {
        try state.withLock { state throws(LedgerError) in
            guard !news.isPartOfRows, let given = state.given, news.position.feed == given.feed,
                news.position.number <= given.number
            else { return }
            try store(news.position, &state)
        }
    }

    private func store(_ position: ChangePosition, _ state: inout State) throws(LedgerError) {
        guard state.place.position.map({ $0.feed != position.feed || $0.number < position.number }) ?? true else { return }
        var place = state.place
        place.position = position
        try ledger.wrappingErrors { try lease.store(place.text) }
        state.place = place
    }

    /// Releases the name for another process. This also happens on release, and when the process ends.
    public func close() { lease.release() }
}

extension ViewConsumer.Place {
    init(text: String, path: String) throws {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count >= 3, words[0] == "view", text.hasSuffix("\n") else { throw Self.damage(path) }
        view = String(words[1])
        if words.count == 3, words[2] == "rows" { return }
        guard words.count == 6, words[2] == "feed", let feed = UInt64(words[3]), words[4] == "number",
            let number = UInt64(words[5])
        else { throw Self.damage(path) }
        position = ChangePosition(feed: feed, number: number)
    }

    private static func damage(_ path: String) -> EventLogError {
        EventLogError(.corrupt, path: path, detail: "it contains no position")
    }
}
