internal import LMDB

extension EventLog {
    /// Begins one short read transaction.
    /// - Throws: `.closed`, and errors of the file.
    public func beginRead() throws(EventLogError) -> LogReader {
        while true {
            let reader = try storing { () throws(StorageError) in try LogReader(store) }
            guard isReadOnly, try reader.isReplaced(), try follow(reader.store) else { return reader }
        }
    }

    /// Passes `body` up to `count` events from `first` on, in one read transaction and without copying.
    ///
    /// - Parameters:
    ///   - first: if retention has dropped it, reading begins with the first event that is kept.
    ///   - filter: sealed blocks that cannot hold a matching event are skipped; other events are passed whether they match or not.
    ///   - checksums: whether each event's checksum is verified before it is passed on.
    ///   - body: receives the payload, valid during the call; returns false to stop. It must not wait.
    /// - Throws: `EventLogError` with `.corrupt` at an event that is missing or whose checksum does not match, and what `body` throws.
    public func withEvents<Failure: Error>(
        from first: EventSequence, count: Int = .max, where filter: BlockFilter? = nil, checksums: Bool = true,
        _ body: (EventHeader, RawSpan) throws(Failure) -> Bool
    ) throws {
        guard count > 0 else { return }
        let reader = try beginRead()
        var cursor = try reader.cursor()
        var order = ReadingOrder(from: max(first, reader.first), .forward, skips: filter != nil)
        var isThere = try cursor.seek(order.next, .forward, where: filter)
        var left = count
        while isThere {
            guard order.admits(cursor.sequence) else { throw missing(order.next) }
            guard let header = cursor.header, !checksums || cursor.isIntact else { throw damage(cursor.sequence) }
            guard try body(header, cursor.payload) else { return }
            left -= 1
            guard left > 0 else { return }
            isThere = try cursor.next()
        }
        if order.lacks(through: reader.head) { throw missing(order.next) }
    }

    /// The event with that sequence, nil if there is none.
    ///
    /// - Throws: `.beyondRetention` if it was dropped.
    public func event(_ sequence: EventSequence) throws(EventLogError) -> Event? {
        let reader = try beginRead()
        guard sequence >= reader.first || sequence == .zero else { throw dropped(sequence, reader.cut) }
        var cursor = try reader.cursor()
        guard try cursor.seek(sequence) else { return nil }
        return try copy(cursor)
    }

    /// Copies of the events in the range that are not dropped, at most `limit`, from its start or, when `reversed`, from its end.
    ///
    /// - Parameter filter: sealed blocks that cannot hold a matching event are skipped; other events are returned whether they match or not.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func events(
        in range: ClosedRange<EventSequence>, limit: Int = .max, reversed: Bool = false, where filter: BlockFilter? = nil
    ) throws(EventLogError) -> [Event] {
        let reader = try beginRead()
        let lowest = max(range.lowerBound, reader.first)
        let highest = min(range.upperBound, reader.head)
        guard lowest <= highest, limit > 0 else { return [] }
        var events: [Event] = []
        let direction: ReadingDirection = reversed ? .backward : .forward
        var order = ReadingOrder(from: reversed ? highest : lowest, direction, skips: filter != nil)
        var cursor = try reader.cursor()
        var isThere = try cursor.seek(order.next, direction, where: filter)
        while isThere, events.count < limit, lowest <= order.next, order.next <= highest {
            guard order.admits(cursor.sequence) else { throw missing(order.next) }
            guard cursor.sequence >= lowest, cursor.sequence <= highest else { return events }
            events.append(try copy(cursor))
            isThere = reversed ? try cursor.previous() : try cursor.next()
        }
        if !isThere, events.count < limit, order.lacks(through: reversed ? lowest : highest) { throw missing(order.next) }
        return events
    }

    /// The checksum of the event's record, nil if there is no such event; a view can check with it that it was built from this log. Of dropped
    /// events, only that of the last one is known.
    /// - Throws: `.closed`, and errors of the file.
    public func checksum(of sequence: EventSequence) throws(EventLogError) -> UInt64? {
        let reader = try beginRead()
        if reader.cut > 0, sequence.rawValue == reader.cut { return try reader.cutNumber(CutRow.checksum) }
        var cursor = try reader.cursor()
        return try cursor.seek(sequence) ? cursor.checksum : nil
    }

    private func copy(_ cursor: borrowing EventCursor) throws(EventLogError) -> Event {
        guard let header = cursor.header, cursor.isIntact else { throw damage(cursor.sequence) }
        return Event(header: header, payload: unsafe cursor.payload.withUnsafeBytes { unsafe [UInt8]($0) })
    }

    func dropped(_ sequence: EventSequence, _ cut: UInt64) -> EventLogError {
        EventLogError(
            .beyondRetention, path: path, detail: "event \(sequence); the first that is kept is \(cut + 1)")
    }

    private func missing(_ sequence: EventSequence) -> EventLogError {
        EventLogError(
            .corrupt, path: store.environment.path,
            detail: "event \(sequence) is not where it should be; `meshledger verify` finds out what else is damaged")
    }

    package func damage(_ sequence: EventSequence) -> EventLogError {
        EventLogError(
            .corrupt, path: store.environment.path, detail: "the checksum of event \(sequence) does not match its bytes")
    }
}
