extension EventLog {
    /// The most bytes of events that one append accepts.
    public static let largestAppend = 64 << 20

    /// Appends one event. It is durable when this returns. Cancelling the task does not cancel an append.
    ///
    /// - Throws: `.sizeLimitReached` and `.diskFull` when nothing was stored and a retry may succeed; `.outcomeUnknown` with a token
    ///   when the disk failed; `.closed`, `.readOnly`, `.tooLarge`, `.writesClosed`.
    @discardableResult
    public func append(_ event: NewEvent) async throws(EventLogError) -> EventSequence {
        if isReadOnly { throw EventLogError(.readOnly, path: path) }
        if event.isOfLog { throw ownEvent }
        if AppendGuard.isActive { throw EventLogError(.mutationDuringEnumeration, path: path) }
        guard event.payload.count <= AppendBatch.largestCopy else { return try await appendLarge(event) }
        let header = RecordHeader(event)
        do {
            let first = unsafe try await withUnsafeThrowingContinuation { (waiter: UnsafeContinuation<UInt64, any Error>) in
                if let refusal = unsafe queue.push(header, event.payload, waiter) {
                    unsafe waiter.resume(throwing: error(refusal))
                }
            }
            return EventSequence(first)
        } catch {
            throw Self.logError(error, path)
        }
    }

    /// Appends the events and their source's cursor in one transaction.
    ///
    /// - Parameters:
    ///   - cursor: replaces the stored cursor of the same key; also committed when there are no events.
    ///   - token: from `outcomeUnknown`, to append the same events again: nothing is added twice.
    /// - Returns: the events' sequences, nil when there were no events.
    /// - Throws: as the first form of `append`.
    @discardableResult
    public func append(
        _ events: [NewEvent], cursor: SourceCursor? = nil, token: AppendToken? = nil
    ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
        return range(try await first(of: .many(events), cursor, token), events.count)
    }

    /// Appends a batch in one transaction, like the array form but without an allocation per event.
    /// - Throws: as the first form of `append`.
    @discardableResult
    public func append(
        _ batch: EventBatch, cursor: SourceCursor? = nil, token: AppendToken? = nil
    ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
        range(try await first(of: .batch(batch), cursor, token), batch.count)
    }

    /// Appends from a thread that runs no task, and blocks it until the events are durable.
    /// - Throws: as the first form of `append`.
    @discardableResult
    public func appendBlocking(
        _ events: [NewEvent], cursor: SourceCursor? = nil, token: AppendToken? = nil
    ) throws(EventLogError) -> ClosedRange<EventSequence>? {
        return range(try firstBlocking(.many(events), cursor, token), events.count)
    }

    /// Appends a batch from a thread that runs no task, and blocks it until the events are durable.
    /// - Throws: as the first form of `append`.
    @discardableResult
    public func appendBlocking(
        _ batch: EventBatch, cursor: SourceCursor? = nil, token: AppendToken? = nil
    ) throws(EventLogError) -> ClosedRange<EventSequence>? {
        range(try firstBlocking(.batch(batch), cursor, token), batch.count)
    }

    /// Queues events without waiting for the disk.
    ///
    /// - Parameter whenDone: called once, on a thread of the log's choice, when the events are durable or with the reason why they are not. It
    ///   must be quick and must not append and wait.
    /// - Throws: `.queueFull` when more than the queue's limit is waiting. A source that cannot wait then counts what it drops and appends a
    ///   `Gap` later.
    public func submit(
        _ events: [NewEvent], cursor: SourceCursor? = nil,
        whenDone: @escaping @Sendable (Result<ClosedRange<EventSequence>?, EventLogError>) -> Void = { _ in }
    ) throws(EventLogError) {
        let work = AppendRequest.Work.many(events)
        try check(work, cursor)
        let count = events.count
        let completion = AppendRequest.Completion.callback { outcome in
            whenDone(Result { () throws(EventLogError) in Self.range(try Self.first(outcome), count) })
        }
        let arrival = options.clock().microseconds
        let request = AppendRequest(work: work, cursor: cursor, token: nil, arrival: arrival, completion: completion)
        if let refusal = queue.push(request, isAttended: false) { throw error(refusal) }
    }

    /// Returns when everything that was appended or submitted before is durable.
    /// - Throws: the error of an earlier append that could not be made durable.
    public func flush() async throws(EventLogError) {
        guard !isReadOnly else { return }
        _ = try await first(of: .many([]))
    }
}

extension EventLog {
    private func appendLarge(_ event: NewEvent) async throws(EventLogError) -> EventSequence {
        guard event.payload.count <= NewEvent.largestPayload else { throw EventLogError(.tooLarge, path: path) }
        return EventSequence(try await first(of: .one(event)))
    }

    func first(
        of work: AppendRequest.Work, _ cursor: SourceCursor? = nil, _ token: AppendToken? = nil, at time: Timestamp? = nil
    ) async throws(EventLogError) -> UInt64 {
        try check(work, cursor)
        let arrival = (time ?? options.clock()).microseconds
        let request = AppendRequest(work: work, cursor: cursor, token: token, arrival: arrival, completion: .callback { _ in })
        if let outcome = driver?.serveNow(request) { return try Self.first(outcome) }
        do {
            return unsafe try await withUnsafeThrowingContinuation { (waiter: UnsafeContinuation<UInt64, any Error>) in
                let request = unsafe AppendRequest(
                    work: work, cursor: cursor, token: token, arrival: arrival, completion: .task(waiter))
                if let refusal = queue.push(request, isAttended: true) { unsafe waiter.resume(throwing: error(refusal)) }
            }
        } catch {
            throw Self.logError(error, path)
        }
    }

    func firstBlocking(
        _ work: AppendRequest.Work, _ cursor: SourceCursor?, _ token: AppendToken?
    ) throws(EventLogError) -> UInt64 {
        try check(work, cursor)
        let arrival = options.clock().microseconds
        let direct = AppendRequest(work: work, cursor: cursor, token: token, arrival: arrival, completion: .callback { _ in })
        if let outcome = driver?.serveNow(direct) { return try Self.first(outcome) }
        let outcome = BlockingResult<AppendOutcome>()
        let request = AppendRequest(
            work: work, cursor: cursor, token: token, arrival: arrival, completion: .callback { outcome.set($0) })
        if let refusal = queue.push(request, isAttended: true) { throw error(refusal) }
        return try Self.first(outcome.wait())
    }

    private func check(_ work: AppendRequest.Work, _ cursor: SourceCursor?) throws(EventLogError) {
        try checkSize(of: work)
        if let cursor, !(1...500).contains(cursor.key.utf8.count) {
            throw EventLogError(.tooLarge, path: path, detail: "a cursor's key has 1 to 500 bytes")
        }
    }

    /// The writer fails an append with this layer's errors only.
    private static func logError(_ error: any Error, _ path: String) -> EventLogError {
        error as? EventLogError ?? EventLogError(.storage, path: path, detail: "\(error)")
    }

    private func checkSize(of work: AppendRequest.Work) throws(EventLogError) {
        if isReadOnly { throw EventLogError(.readOnly, path: path) }
        if work.isMutation, AppendGuard.isActive { throw EventLogError(.mutationDuringEnumeration, path: path) }
        switch work {
        case .one, .source, .cut: return
        case .many(let events):
            var (size, largest) = (0, 0)
            for place in events.indices {
                let count = events[place].payload.count
                if events[place].isOfLog { throw ownEvent }
                size += count + RecordHeader.size
                largest = max(largest, count)
            }
            guard largest <= NewEvent.largestPayload, size <= Self.largestAppend else {
                throw EventLogError(.tooLarge, path: path)
            }
        case .batch(let batch):
            if batch.posesAsLog { throw ownEvent }
            let size = batch.byteCount + batch.count * RecordHeader.size
            guard batch.largest <= NewEvent.largestPayload, size <= Self.largestAppend else {
                throw EventLogError(.tooLarge, path: path)
            }
        }
    }

    private var ownEvent: EventLogError {
        EventLogError(
            .reserved, path: path, detail: "only the log itself may record erased or dropped events and jumps of the clock")
    }

    private func error(_ refusal: AppendQueue.Refusal) -> EventLogError {
        switch refusal {
        case .closed: EventLogError(.closed, path: path)
        case .full: EventLogError(.queueFull, path: path)
        }
    }

    private static func first(_ outcome: AppendOutcome) throws(EventLogError) -> UInt64 {
        switch outcome {
        case .stored(let first): return first
        case .failed(let error): throw error
        }
    }

    private static func range(_ first: UInt64, _ count: Int) -> ClosedRange<EventSequence>? {
        count == 0 ? nil : EventSequence(first)...EventSequence(first + UInt64(count) - 1)
    }

    private func range(_ first: UInt64, _ count: Int) -> ClosedRange<EventSequence>? { Self.range(first, count) }
}
