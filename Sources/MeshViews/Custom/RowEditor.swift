import EventLog
public import LMDB
public import Projections
public import ViewQuery

/// The rows of a custom view, as the fold of one event reads and changes them.
///
/// Everything called for each event is inlinable, so that the compiler specializes it in the view's own module.
public struct RowEditor<Row: StoredRow>: Sendable {
    @usableFromInline struct Change: Sendable {
        @usableFromInline let place: Int
        @usableFromInline let row: Row?

        @usableFromInline
        init(_ place: Int, _ row: Row?) {
            self.place = place
            self.row = row
        }
    }

    @usableFromInline var table: RowTable<Row>
    /// The changes of the current event, applied after its fold has succeeded.
    @usableFromInline var changes: [Change] = []
    @usableFromInline var wantsCommit = false
    /// Why the current event's rows could not be read.
    @usableFromInline var failure: StorageError?
    /// The changes of the whole run of events.
    @usableFromInline var urgency = Urgency.none
    private var quarantined: [Quarantined] = []

    init(_ table: RowTable<Row>) { self.table = table }

    /// The row with the same key, or nil.
    /// - Throws: errors of the view's file.
    @inlinable
    public mutating func row(_ row: Row) throws -> Row? {
        // In a single expression, `current` would be called on the rows before the entry was added.
        let place = try table.place(of: row)
        return current(place)
    }

    @inlinable
    func current(_ place: Int) -> Row? {
        guard !changes.isEmpty, let change = changes.last(where: { $0.place == place }) else { return table.entries[place].row }
        return change.row
    }

    /// Changes the row with the same key, or this one if there is no such row.
    ///
    /// - Throws: `.keyChanged` if the change affects the key.
    @inlinable
    public mutating func update(_ row: Row, _ change: (inout Row) throws -> Void) throws {
        let place = try table.place(of: row)
        var changed = current(place) ?? row
        try change(&changed)
        guard table.isKey(of: changed, at: place) else { throw RowEditorError.keyChanged }
        put(place, changed)
    }

    /// Merges the new values into the row with the same key; if there is none, they become the row.
    ///
    /// - Throws: `.keyChanged` if the rules change the key.
    @inlinable
    public mutating func merge(_ news: Row, by merge: Merge<Row>) throws {
        let place = try table.place(of: news)
        guard var merged = current(place) else { return put(place, news) }
        merge(&merged, news)
        guard table.isKey(of: merged, at: place) else { throw RowEditorError.keyChanged }
        put(place, merged)
    }

    /// Replaces the row with the same key, if it exists, or adds it.
    @inlinable
    public mutating func insert(_ row: Row) { put(row, row) }

    /// Removes the row with the same key, if it exists.
    @inlinable
    public mutating func remove(_ row: Row) { put(row, nil) }

    /// Requests an early commit of the changes, as for messages: within 10 milliseconds of the end of the batch instead of seconds.
    @inlinable
    public mutating func commitSoon() { wantsCommit = true }

    @inlinable
    mutating func put(_ key: Row, _ row: Row?) {
        do throws(StorageError) {
            put(try table.place(of: key), row)
        } catch {
            failure = error
        }
    }

    @inlinable
    mutating func put(_ place: Int, _ row: Row?) {
        if !changes.isEmpty { changes.removeAll { $0.place == place } }
        changes.append(Change(place, row))
    }

    // MARK: Runs of events

    mutating func fold<View: LedgerView>(
        _ events: MeshEvents, by view: View, in context: inout FoldContext
    ) throws(StorageError) where View.Row == Row {
        try view.fold(events, into: &self)
        for event in quarantined { context.quarantine(event.sequence, reason: event.reason) }
        context.want(urgency)
        quarantined.removeAll()
        urgency = .none
    }

    /// Applies the changes of an event.
    @inlinable
    mutating func apply() throws(StorageError) {
        if let failure { throw failure }
        guard !changes.isEmpty else { return wantsCommit = false }
        for index in changes.indices { try table.set(changes[index].place, changes[index].row) }
        changes.removeAll(keepingCapacity: true)
        urgency = max(urgency, wantsCommit ? .immediate : .debounced)
        wantsCommit = false
    }

    /// Drops the changes of an event whose fold failed.
    ///
    /// - Throws: the error, if it is a fault of the file and not of the event.
    @usableFromInline
    mutating func setAside(_ event: MeshEvent, _ error: any Error) throws(StorageError) {
        changes.removeAll(keepingCapacity: true)
        if let error = failure ?? error as? StorageError { throw error }
        quarantined.append(Quarantined(sequence: EventSequence(rawValue: event.sequence), reason: "\(error)"))
    }
}

/// Errors of a fold in its use of rows.
public enum RowEditorError: Error, Sendable, CustomStringConvertible {
    /// An update changed the row's key: remove the row, and insert the new one instead.
    case keyChanged

    public var description: String { "the fold changed the key of a row" }
}
