/// Accepts events: a log that this process writes, or one that another process writes for it.
public protocol EventSink: Sendable {
    /// The number of the source with that name; the log assigns it on first use.
    /// - Throws: errors of the log, such as `.readOnly`, `.closed` and `.diskFull`.
    func source(named name: String) async throws(EventLogError) -> SourceID

    /// The same, for events that are about to be appended: the source need not be stored before the first of them.
    /// - Throws: as `source(named:)`.
    func reserveSource(named name: String) async throws(EventLogError) -> SourceID

    /// How far a source has been read, nil if that was never stored.
    /// - Throws: errors of the log.
    func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]?

    /// Appends the events and their source's cursor in one transaction; they are durable when it returns.
    ///
    /// - Throws: `.sizeLimitReached` and `.diskFull` when nothing was stored and a retry may succeed; `.outcomeUnknown` and
    ///   `.writerGone` when it is unknown whether the events are stored; `.closed`, `.readOnly` and others.
    func append(
        _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
    ) async throws(EventLogError) -> ClosedRange<EventSequence>?
}

extension EventSink {
    public func reserveSource(named name: String) async throws(EventLogError) -> SourceID { try await source(named: name) }

    /// Appends events for the first time, hence without a token.
    /// - Throws: as the form with a token.
    @discardableResult
    public func append(_ events: [NewEvent], cursor: SourceCursor? = nil) async throws(EventLogError) -> ClosedRange<
        EventSequence
    >? {
        try await append(events, cursor: cursor, token: nil)
    }
}

extension EventLog: EventSink {
    public func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]? { try cursor(key) }
}
