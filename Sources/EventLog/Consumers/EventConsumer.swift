internal import Synchronization

/// Reads all events of a log in order and durably remembers its position.
///
/// ```swift
/// let consumer = try log.consumer(named: "analytics")
/// while let events = try await consumer.next() {
///     try send(events)
///     try consumer.acknowledge(through: events[events.count - 1].sequence)
/// }
/// ```
/// Each event is delivered at least once: what was not acknowledged when the process ended is delivered again. Any process that may write to the
/// ledger's folder can have consumers, also beside a writer; only one process at a time can use a name.
///
/// Synchronization: the positions are behind a mutex; acknowledging holds it while the file is replaced.
public final class EventConsumer: Sendable {
    private struct Positions {
        var given: UInt64
        var acknowledged: UInt64
        var lost: UInt64 = 0
    }

    public let name: String
    private let log: EventLog
    private let files: ConsumerFiles
    private let lock: WriterLock
    private let positions: Mutex<Positions>
    private let skipsDropped: Bool

    init(name: String, log: EventLog, files: ConsumerFiles, lock: WriterLock, position: UInt64, skipsDropped: Bool) {
        self.skipsDropped = skipsDropped
        self.name = name
        self.log = log
        self.files = files
        self.lock = lock
        positions = Mutex(Positions(given: position, acknowledged: position))
    }

    /// The last event that was acknowledged; it survives the process.
    public var position: EventSequence { EventSequence(positions.withLock { $0.acknowledged }) }

    /// Events that retention dropped before they could be delivered, since this consumer was opened.
    public var lost: UInt64 { positions.withLock { $0.lost } }

    /// The next events, without waiting: empty at the head.
    ///
    /// - Parameter limit: the most events.
    /// - Throws: `.beyondRetention` when events were dropped before they were delivered, unless it skips them.
    public func available(limit: Int = 1_000) throws(EventLogError) -> [Event] {
        let given = positions.withLock { $0.given }
        guard given < .max, limit > 0 else { return [] }
        let events = try log.events(in: EventSequence(given + 1)...EventSequence(.max), limit: limit)
        guard let first = events.first?.sequence.rawValue, let last = events.last?.sequence.rawValue else { return [] }
        if first > given + 1 && !skipsDropped { try log.refuseLoss(after: given) }
        positions.withLock { positions in
            positions.given = max(positions.given, last)
            positions.lost += first - given - 1
        }
        return events
    }

    /// The next events in order; at the head it waits for new ones, including those of another process.
    ///
    /// - Parameter limit: the most events.
    /// - Returns: nil when the log is closed or the task cancelled.
    /// - Throws: `.beyondRetention` if events were dropped before they were delivered, unless it skips them.
    public func next(limit: Int = 1_000) async throws(EventLogError) -> [Event]? {
        while !Task.isCancelled {
            let events = try available(limit: limit)
            if !events.isEmpty { return events }
            let given = EventSequence(positions.withLock { $0.given })
            var heads = log.subscribe(after: given).makeAsyncIterator()
            guard await heads.next() != nil else { return nil }
        }
        return nil
    }

    /// Durably acknowledges all events through `sequence`. Going back is not possible: a lower one changes nothing.
    ///
    /// - Throws: `.consumerAhead` for an event that was not delivered yet, `.closed` after `close()`, and errors of the disk.
    public func acknowledge(through sequence: EventSequence) throws(EventLogError) {
        try positions.withLock { positions throws(EventLogError) in
            guard lock.isHeldNow else { throw EventLogError(.closed, path: files.positionPath(name)) }
            guard sequence.rawValue <= positions.given else {
                throw EventLogError(
                    .consumerAhead, path: files.positionPath(name),
                    detail: "event \(sequence) was not delivered yet; the last one was \(positions.given)")
            }
            guard sequence.rawValue > positions.acknowledged else { return }
            try files.store(sequence.rawValue, name)
            positions.acknowledged = sequence.rawValue
        }
    }

    /// Releases the name for another process. This also happens on release, and when the process ends.
    public func close() {
        positions.withLock { _ in lock.release() }
    }
}
