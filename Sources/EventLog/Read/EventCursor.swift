internal import LMDB

/// One short read transaction on the log. Keep it to a batch or 100 ms, and never across an `await`.
public struct LogReader: ~Copyable {
    let transaction: ReadTransaction
    let store: LogStore
    /// The last event that this reader sees.
    public let head: EventSequence

    init(_ store: LogStore) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        head = EventSequence(try store.lastSequence(transaction))
        self.store = store
        self.transaction = transaction
    }

    /// A place in the log that stands nowhere yet.
    @_lifetime(borrow self)
    public func cursor() throws(EventLogError) -> EventCursor {
        do throws(StorageError) {
            return EventCursor(try transaction.cursor(store.events))
        } catch {
            throw EventLogError(error)
        }
    }
}

/// A place in the log. Moving and looking copy nothing and allocate nothing.
public struct EventCursor: ~Copyable, ~Escapable {
    var place: Cursor

    @_lifetime(copy place)
    init(_ place: consuming Cursor) { self.place = place }

    /// Goes to the event, or says that there is none of that sequence.
    @_lifetime(self: copy self)
    public mutating func seek(_ sequence: EventSequence) throws(EventLogError) -> Bool {
        do throws(StorageError) {
            let key = SequenceKey(sequence.rawValue)
            return try place.seek(exactly: key.span)
        } catch {
            throw EventLogError(error)
        }
    }

    /// Goes to the next event, from nowhere to the first. False after the last.
    @_lifetime(self: copy self)
    public mutating func next() throws(EventLogError) -> Bool {
        do throws(StorageError) { return try place.next() } catch { throw EventLogError(error) }
    }

    /// Goes to the event before, from nowhere to the last. False before the first.
    @_lifetime(self: copy self)
    public mutating func previous() throws(EventLogError) -> Bool {
        do throws(StorageError) { return try place.previous() } catch { throw EventLogError(error) }
    }

    /// The sequence of the event here, zero where there is none.
    public var sequence: EventSequence { EventSequence(SequenceKey.sequence(place.key) ?? 0) }

    /// The bytes as they are stored, header included. Empty where there is no event.
    var record: RawSpan {
        @_lifetime(borrow self) get { place.value }
    }

    /// The event's payload, until the next move. Empty where there is none, and where it was erased.
    public var payload: RawSpan {
        @_lifetime(borrow self) get {
            let record = place.value
            guard record.byteCount >= RecordHeader.size, !Record.isErased(record) else { return RawSpan() }
            return record.extracting(droppingFirst: RecordHeader.size)
        }
    }

    /// The event's header. Nil where there is no event, or bytes that are no record.
    public var header: EventHeader? {
        let record = place.value
        guard record.byteCount >= RecordHeader.size, let sequence = SequenceKey.sequence(place.key) else { return nil }
        return Record.header(record, sequence: sequence)
    }

    /// The stored checksum of header and payload, 0 where there is none.
    public var checksum: UInt64 {
        let record = place.value
        return record.byteCount >= RecordHeader.size ? Record.checksum(record) : 0
    }

    /// Whether header and payload are the bytes that were stored.
    public var isIntact: Bool { Record.isIntact(place.value, sequence: sequence.rawValue) }
}
