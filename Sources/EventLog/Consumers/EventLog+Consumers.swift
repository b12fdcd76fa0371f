/// The position of a consumer.
public struct ConsumerStatus: Sendable, Equatable {
    public let name: String
    /// The last event that it acknowledged.
    public let position: EventSequence
    /// How many events of the log it has not acknowledged.
    public let lag: UInt64
    /// How many events retention dropped before it acknowledged them.
    public let lost: UInt64
    /// The process that runs it, nil when it does not run.
    public let holder: Int32?
}

/// Where a new consumer begins.
public enum ConsumerStart: Sendable, Equatable {
    /// With the first event that is kept.
    case start
    /// With the first event that is appended from now on.
    case now
    /// With this event.
    case sequence(EventSequence)
}

extension EventLog {
    /// Continues the consumer with that name, or creates it. The log may be open for reading only.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 of the letters A-Z and a-z, digits, `-` and `_`.
    ///   - start: where a new one begins; an existing one continues after its last acknowledged event.
    ///   - skipsDropped: whether it continues with the first event that is kept if retention has dropped events that it has not
    ///     acknowledged.
    /// - Throws: `.consumerName`, `.consumerHeld` with the process that runs it, `.consumerAhead` when it has acknowledged more events
    ///   than the log has, `.tooFewEvents` when a new one would begin further on, `.beyondRetention` when events were dropped that it has
    ///   not acknowledged and it does not skip them, `.permission`, and errors of the disk.
    public func consumer(
        named name: String, from start: ConsumerStart = .start, skipsDropped: Bool = false
    ) throws(EventLogError) -> EventConsumer {
        guard !board.isClosed else { throw EventLogError(.closed, path: path) }
        let files = ConsumerFiles(ledger: path)
        try files.require(name)
        let head = head.rawValue
        if try files.position(name) == nil { try requireEvent(start, before: head + 1) }  // before anything is created
        try files.makeFolder()
        let lock = try files.lock(name)
        guard try !files.names(endingIn: ConsumerFiles.viewSuffix).contains(name) else {
            throw EventLogError(.consumerName, path: files.positionPath(name), detail: "a consumer of a view has this name")
        }
        let known = try files.position(name)
        let position =
            known
            ?? {
                switch start {
                case .start: first.rawValue - 1
                case .now: head
                case .sequence(let first): max(first.rawValue, 1) - 1
                }
            }()
        guard position <= head else {
            throw EventLogError(
                .consumerAhead, path: files.positionPath(name),
                detail: "it would continue after event \(position), but the log ends with \(head)")
        }
        if !skipsDropped { try refuseLoss(after: position) }
        if known == nil { try files.store(position, name) }
        return EventConsumer(
            name: name, log: self, files: files, lock: lock, position: position, skipsDropped: skipsDropped)
    }

    /// - Parameter next: the sequence of the next event to be appended.
    private func requireEvent(_ start: ConsumerStart, before next: UInt64) throws(EventLogError) {
        guard case .sequence(let first) = start, first.rawValue > next else { return }
        throw EventLogError(
            .tooFewEvents, path: path, detail: "a consumer cannot begin with event \(first): the log ends with \(next - 1)")
    }

    /// Refuses a consumer that must read all events if some of them have been dropped.
    func refuseLoss(after position: UInt64) throws(EventLogError) {
        let cut = first.rawValue - 1
        guard position < cut else { return }
        throw EventLogError(
            .beyondRetention, path: path,
            detail:
                "a consumer at event \(position) has lost the events from \(position + 1) to \(cut); it can continue only if it skips them"
        )
    }

    /// All consumers of the log, by name.
    /// - Throws: errors of the consumers' files.
    public func consumers() throws(EventLogError) -> [ConsumerStatus] {
        let files = ConsumerFiles(ledger: path)
        let (head, cut) = (head.rawValue, first.rawValue - 1)
        var all: [ConsumerStatus] = []
        for name in try files.names() {
            guard let position = try files.position(name) else { continue }
            all.append(
                ConsumerStatus(
                    name: name, position: EventSequence(position), lag: head - min(head, max(position, cut)),
                    lost: cut - min(cut, position), holder: files.holder(name)))
        }
        return all
    }

    /// Removes a consumer and its position.
    ///
    /// - Throws: `.consumerName`, `.missingConsumer`, `.consumerHeld` while a process runs it.
    public func removeConsumer(named name: String) throws(EventLogError) {
        let files = ConsumerFiles(ledger: path)
        try files.require(name)
        guard try files.names().contains(name) else { throw EventLogError(.missingConsumer, path: files.positionPath(name)) }
        let lock = try files.lock(name)
        defer { lock.release() }
        try files.remove(name)
    }
}
