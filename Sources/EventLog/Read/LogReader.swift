package import LMDB

/// One short read transaction on the log. Keep it to one batch or 100 ms, and never hold it across an `await`.
public struct LogReader: ~Copyable {
    package let transaction: ReadTransaction
    package let store: LogStore
    /// The last event that this reader sees.
    public let head: EventSequence
    /// The last event that is in a sealed block or dropped; 0 if no event is.
    let lastSealed: UInt64
    /// The last event that retention has dropped; 0 if there is none.
    package let cut: UInt64

    /// The first event that can be read, unless the log is empty.
    public var first: EventSequence { EventSequence(cut + 1) }

    init(_ store: LogStore) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        let extent = try store.extent(transaction)
        head = EventSequence(extent.head)
        lastSealed = extent.lastSealed
        cut = extent.cut
        self.store = store
        self.transaction = transaction
    }

    /// A cursor without a position yet.
    /// - Throws: errors of the file.
    @_lifetime(borrow self)
    public func cursor() throws(EventLogError) -> EventCursor {
        do throws(StorageError) {
            let hot = try transaction.cursor(store.events)
            let sealed = try transaction.cursor(store.sealed)
            return EventCursor(hot, store.blocks, sealed: sealed, lastSealed: lastSealed, cut: cut)
        } catch {
            throw EventLogError(error)
        }
    }
}

extension LogReader {
    package func cutNumber(_ row: String) throws(EventLogError) -> UInt64? {
        try storing { () throws(StorageError) in try store.metaNumber(row, transaction) }
    }
}
