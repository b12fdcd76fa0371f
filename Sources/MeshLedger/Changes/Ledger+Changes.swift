import EventLog
import LMDB
import MeshViews
public import Projections
import ProtobufWire

/// Some changes of a view, and the position after them.
public struct ViewChanges: Sendable, Equatable {
    public var changes: [ViewChange]
    public var position: ChangePosition
    /// Whether more of a consumer's initial rows follow, so that acknowledging only these has no effect.
    public var isPartOfRows = false
}

extension Ledger {
    /// How rows of views change: since a position or an event, over a period, as they change, and for consumers that remember how far they are.
    ///
    /// ```swift
    /// var position = try ledger.changes.position(of: "positions")
    /// // … read the rows …
    /// let news = try ledger.changes.fetch(of: "positions", since: position)
    /// position = news.position
    /// ```
    public struct Changes: Sendable {
        let ledger: Ledger
    }

    public var changes: Changes { Changes(ledger: self) }
}

extension Ledger.Changes {
    /// The last change of a view. A reader that reads all rows after this, and then the changes since, misses none.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func position(of view: String) throws(LedgerError) -> ChangePosition {
        try ledger.reading(view) { (store) throws(StorageError) in try store.changePosition() }
    }

    /// Rows of a view that were stored or removed after a position, in the order of the changes: each as it is now, or gone.
    ///
    /// Positions remain valid across restarts and rebuilds of the view: rows that a rebuild changes count as changes.
    ///
    /// - Parameter limit: how many changes are examined.
    /// - Throws: `.changesLost` if they are no longer kept (see `LedgerOptions.changesKept`), or the view was lost or restarted after an
    ///   erasure: start over with all rows.
    public func fetch(
        of view: String, since position: ChangePosition, limit: Int = 1_000
    ) throws(LedgerError) -> ViewChanges {
        let found = try ledger.reading(view) { (store) throws(StorageError) in try store.changes(since: position, limit: limit) }
        guard let found else {
            throw LedgerError(
                .changesLost, path: ledger.path,
                "changes of the view \(view) after \(position.number) are no longer kept; start again with all of its rows")
        }
        return ViewChanges(changes: found.changes, position: found.position)
    }

    /// Rows of a view's table in the order of their keys, for consumers that start to follow its changes.
    ///
    /// - Parameters:
    ///   - table: nil for the one with the view's name.
    ///   - key: the row after which they begin; nil for the first.
    /// - Throws: what `fetch(of:since:limit:)` throws.
    public func rows(
        of view: String, table: String? = nil, after key: [UInt8]? = nil, limit: Int = 1_000
    ) throws(LedgerError) -> [ViewChange] {
        try ledger.reading(view) { (store) throws(StorageError) in try store.rows(of: table ?? view, after: key, limit: limit) }
    }

    /// Continues the consumer of a view's changes with that name, or creates it. The ledger may be open for reading only.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 of the letters A-Z and a-z, digits, `-` and `_`.
    ///   - fromNow: whether a new one begins with changes from now on; otherwise it receives all rows first.
    ///   - restarts: whether it receives all rows again.
    /// - Throws: `.locked` with the process that already runs it, `.missing` for an invalid name, or one that another consumer has.
    public func consumer(
        named name: String, of view: String, fromNow: Bool = false, restarts: Bool = false
    ) throws(LedgerError) -> ViewConsumer {
        _ = try ledger.definition(view)
        return try ledger.wrappingErrors {
            let lease = try ConsumerLease(name, in: ledger.path)
            let known = try lease.text().map { try ViewConsumer.Place(text: $0, path: lease.path) }
            guard known?.view ?? view == view else {
                throw EventLogError(
                    .consumerName, path: lease.path, detail: "it follows the view \(known?.view ?? ""); choose another name")
            }
            let start = known == nil && fromNow ? try position(of: view) : nil
            var place = known ?? ViewConsumer.Place(view: view, position: start)
            if restarts { place.position = nil }
            if known != place { try lease.store(place.text) }
            return ViewConsumer(ledger, lease, place)
        }
    }

    /// All consumers of changes of views, by name.
    /// - Throws: errors of the consumers' files.
    public func consumers() throws(LedgerError) -> [ViewConsumerStatus] {
        try ledger.wrappingErrors {
            try ConsumerLease.all(in: ledger.path).map { (name, text, holder) in
                let place = try ViewConsumer.Place(text: text, path: "\(ledger.path)/consumers/\(name).view")
                let last = try? position(of: place.view)  // nil before the view is built
                let isOfFeed = place.position.map { $0.feed == last?.feed } ?? false
                return ViewConsumerStatus(
                    name: name, view: place.view, position: place.position,
                    lag: isOfFeed ? (last?.number ?? 0) - min(last?.number ?? 0, place.position?.number ?? 0) : nil,
                    holder: holder)
            }
        }
    }

    /// Removes a consumer of a view's changes.
    /// - Returns: false if no consumer has that name.
    /// - Throws: `.locked` with the process that runs it, and `.missing` for an invalid name.
    public func removeConsumer(named name: String) throws(LedgerError) -> Bool {
        try ledger.wrappingErrors { try ConsumerLease.remove(name, in: ledger.path) }
    }
}

extension Ledger {
    func rowTables(of view: String) throws(LedgerError) -> [String] { try definition(view).rowTables }
}

/// The position of a consumer of a view's changes.
public struct ViewConsumerStatus: Sendable, Equatable {
    public let name: String
    public let view: String
    /// Nil until it has received all its initial rows.
    public let position: ChangePosition?
    /// Changes that it has not acknowledged; nil if it has to start with all rows.
    public let lag: UInt64?
    /// The process that runs it, nil if none does.
    public let holder: Int32?
}

extension ViewChange {
    /// The decoded row; nil if it was removed, or belongs to a table of a custom view.
    public var row: (any ViewRow)? {
        guard let value else { return nil }
        return ViewRegistry.kinds[table]?.init(key: key.rawSpan, value: value.rawSpan)
    }
}
