import EventLog
public import Projections
import Synchronization

/// One that follows the changes of a view and remembers durably how far it came.
///
/// ```swift
/// let consumer = try ledger.consumer(named: "map", of: "positions")
/// while let news = try await consumer.next() {
///     for change in news.changes { change.value == nil ? remove(change.key) : put(change.key, change.value) }
///     try consumer.acknowledge(news)
/// }
/// ```
/// It is given all rows first, then every change at least once: what was not acknowledged when the process ended comes again, and rows come from
/// the start again until all of them are acknowledged. Any process that may write to the ledger's folder can have consumers; a name runs once at a time.
///
/// Synchronization: the positions are behind a mutex; acknowledging holds it while the file is replaced.
public final class ViewConsumer: Sendable {
    /// What a consumer's file says: `view NAME feed F number N`, or `view NAME rows`.
    struct Place: Sendable, Equatable {
        var view: String
        var position: ChangePosition?

        var text: String {
            let rest = position.map { "feed \($0.feed) number \($0.number)" } ?? "rows"
            return "view \(view) \(rest)\n"
        }
    }

    /// Where the reading of all rows is.
    private struct Rows {
        /// The last change before it began.
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
    private let seat: ConsumerSeat
    private let state: Mutex<State>
    /// How long a change can go unnoticed.
    private static let period = Duration.milliseconds(100)

    init(_ ledger: Ledger, _ seat: ConsumerSeat, _ place: Place) {
        self.ledger = ledger
        self.seat = seat
        (name, view) = (seat.name, place.view)
        state = Mutex(State(place: place, given: place.position))
    }

    /// What was acknowledged last; it survives the process. Nil as long as rows are given that it begins with.
    public var position: ChangePosition? { state.withLock { $0.place.position } }

    /// What follows on what it gave last, without waiting: no changes where there are none.
    ///
    /// - Throws: `.changesLost` where it has to begin again, see `Ledger.changes(of:since:limit:)`.
    public func available(limit: Int = 1_000) throws(LedgerError) -> ViewChanges {
        try state.withLock { state throws(LedgerError) in
            if let given = state.given {
                let news = try ledger.changes(of: view, since: given, limit: limit)
                state.given = news.position
                return news
            }
            return try rows(&state, limit)
        }
    }

    private func rows(_ state: inout State, _ limit: Int) throws(LedgerError) -> ViewChanges {
        let tables = try ledger.rowTables(of: view)
        var rows: Rows
        if let known = state.rows { rows = known } else { rows = Rows(begin: try ledger.changePosition(of: view)) }
        var found: [ViewChange] = []
        while found.isEmpty, rows.table < tables.count {
            found = try ledger.rows(of: view, table: tables[rows.table], after: rows.key, limit: limit)
            rows.key = found.last?.key
            while rows.table < tables.count {
                let more = try ledger.rows(of: view, table: tables[rows.table], after: rows.key, limit: 1)
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

    /// What follows; where nothing does, it waits.
    /// - Returns: nil when the task is cancelled.
    public func next(limit: Int = 1_000) async throws(LedgerError) -> ViewChanges? {
        while !Task.isCancelled {
            let news = try available(limit: limit)
            if !news.changes.isEmpty { return news }
            try? await Task.sleep(for: Self.period)  // cancelled: seen above
        }
        return nil
    }

    /// Notes durably that these changes, and all that were given before, are done with.
    ///
    /// - Throws: `.closed` after `close()`, and what the disk says.
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
        do throws(EventLogError) {
            try seat.store(place.text)
        } catch {
            throw LedgerError(error)
        }
        state.place = place
    }

    /// Frees the name for another process. Also done when it is released, and by the system when the process ends.
    public func close() { seat.release() }
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
        EventLogError(.corrupt, path: path, detail: "it names no position")
    }
}
