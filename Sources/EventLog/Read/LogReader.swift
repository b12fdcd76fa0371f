internal import LMDB

/// One short read transaction on the log. Keep it to a batch or 100 ms, and never across an `await`.
public struct LogReader: ~Copyable {
    let transaction: ReadTransaction
    let store: LogStore
    /// The last event that this reader sees.
    public let head: EventSequence
    /// The last event that is in a sealed block, 0 when none is.
    let lastSealed: UInt64

    init(_ store: LogStore) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        let extent = try store.extent(transaction)
        head = EventSequence(extent.head)
        lastSealed = extent.lastSealed
        self.store = store
        self.transaction = transaction
    }

    /// A place in the log that stands nowhere yet.
    @_lifetime(borrow self)
    public func cursor() throws(EventLogError) -> EventCursor {
        do throws(StorageError) {
            let hot = try transaction.cursor(store.events)
            return EventCursor(hot, store.blocks, sealed: try transaction.cursor(store.sealed), lastSealed: lastSealed)
        } catch {
            throw EventLogError(error)
        }
    }
}
