/// Accepts events: a log that this process writes, or one that another process writes for it.
public protocol EventSink: Sendable {
    /// The number of the source with that name; the log assigns it on first use.
    func source(named name: String) async throws(EventLogError) -> SourceID

    /// The same, for events that are about to be appended: the source need not be stored before the first of them.
    func reserveSource(named name: String) async throws(EventLogError) -> SourceID

    /// How far a source has been read, nil if that was never stored.
    func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]?

    /// Appends the events and their source's cursor in one transaction; they are durable when it returns.
    func append(
        _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
    ) async throws(EventLogError) -> ClosedRange<EventSequence>?
}

extension EventSink {
    public func reserveSource(named name: String) async throws(EventLogError) -> SourceID { try await source(named: name) }

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
