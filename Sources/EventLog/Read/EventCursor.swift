internal import LMDB

/// A position in the log. Moving and reading copy and allocate nothing, except when a sealed block is entered.
///
/// The events of a damaged sealed block exist but are not intact, as with a damaged record.
public struct EventCursor: ~Copyable, ~Escapable {
    enum Region {
        case nowhere
        case sealed
        case hot
    }

    var region: Region
    /// The position among the events that are not sealed.
    var hot: Cursor
    /// The position among the sealed blocks.
    var blocks: Cursor
    let lastSealed: UInt64
    /// Events up to this one are dropped, even if they are still stored.
    let cut: UInt64
    let cache: BlockCache
    /// Whether checksums of sealed records are computed. Otherwise `checksum` is meaningless there, and reading is faster.
    package var readsChecksums = true {
        didSet { block = OpenBlock(checksums: readsChecksums) }
    }
    /// The block of the current position, or the last one.
    var block = OpenBlock()
    /// The position in the block.
    var index = 0
    /// Sealed blocks that moves skip.
    var filter: BlockFilter?

    @_lifetime(copy hot, copy sealed)
    init(_ hot: consuming Cursor, _ cache: BlockCache, sealed: consuming Cursor, lastSealed: UInt64, cut: UInt64) {
        self.hot = hot
        self.cache = cache
        blocks = sealed
        self.lastSealed = lastSealed
        self.cut = cut
        region = lastSealed == 0 ? .hot : .nowhere
    }

    deinit {
        // If reading ended within a block, the next reader continues there.
        if region == .sealed, index + 1 < block.count { block.keep(in: cache) }
    }

    /// Moves to the event; false if no event has that sequence.
    /// - Throws: errors of the file.
    @_lifetime(self: copy self)
    public mutating func seek(_ sequence: EventSequence) throws(EventLogError) -> Bool {
        do throws(StorageError) {
            guard sequence.rawValue > lastSealed else { return try seekSealed(sequence.rawValue) }
            region = .hot
            let key = SequenceKey(sequence.rawValue)
            return try hot.seek(exactly: key.span)
        } catch {
            throw EventLogError(error)
        }
    }

    /// Moves to the next event; from no position, to the first. False after the last.
    /// - Throws: errors of the file.
    @_lifetime(self: copy self)
    public mutating func next() throws(EventLogError) -> Bool {
        do throws(StorageError) {
            guard region != .hot else { return try hot.next() }
            return try nextSealed()
        } catch {
            throw EventLogError(error)
        }
    }

    /// Moves to the previous event; from no position, to the last. False before the first.
    /// - Throws: errors of the file.
    @_lifetime(self: copy self)
    public mutating func previous() throws(EventLogError) -> Bool {
        do throws(StorageError) {
            if region == .hot {
                if try hot.previous() { return true }
                return lastSealed > cut ? try enterBlock(blocks.last(), .backward) : false
            }
            return try previousSealed()
        } catch {
            throw EventLogError(error)
        }
    }

    /// The sequence of the current event; zero without one.
    public var sequence: EventSequence {
        switch region {
        case .hot: EventSequence(SequenceKey.sequence(hot.key) ?? 0)
        case .sealed: EventSequence(block.first + UInt64(index))
        case .nowhere: .zero
        }
    }

    /// The bytes as they are stored, header included. Empty if there is no event.
    package var record: RawSpan {
        @_lifetime(borrow self) get {
            if region == .hot { return hot.value }
            return region == .sealed ? block.record(index) : RawSpan()
        }
    }

    /// The event's payload, valid until the next move. Empty without an event, and if it was erased.
    public var payload: RawSpan {
        @_lifetime(borrow self) get {
            let record = record
            guard record.byteCount >= RecordHeader.size, !Record.isErased(record) else { return RawSpan() }
            return record.extracting(droppingFirst: RecordHeader.size)
        }
    }

    /// The event's header. Nil without an event, or if the bytes are not a record.
    public var header: EventHeader? {
        let record = record
        guard record.byteCount >= RecordHeader.size else { return nil }
        let sequence = sequence.rawValue
        return sequence == 0 ? nil : Record.header(record, sequence: sequence)
    }

    /// The stored checksum of header and payload; 0 without an event.
    public var checksum: UInt64 {
        let record = record
        return record.byteCount >= RecordHeader.size ? Record.checksum(record) : 0
    }

    /// Whether header and payload are the bytes that were stored.
    public var isIntact: Bool {
        // A block was checked as a whole when it was opened, and its records' checksums were computed then.
        if region == .sealed { return !block.isDamaged }
        return Record.isIntact(hot.value, sequence: sequence.rawValue)
    }
}
