extension EventLog {
    /// The events after `sequence`: first those that exist, then each as it is appended, also by another process. Events that retention
    /// has dropped are skipped.
    ///
    /// - Parameter batch: the most events in one range.
    /// - Returns: ranges without overlaps, and without gaps except where events were dropped. Ends when the log is closed or the task cancelled.
    public func subscribe(after sequence: EventSequence, batch: Int = 4096) -> EventSubscription {
        EventSubscription(log: self, after: sequence, batch: max(batch, 1))
    }

    /// Calls `hook` after each commit with the new head, on the writer's thread: it must be quick and must not append and wait.
    /// - Returns: the handle for `removeHook`.
    public func onAppend(_ hook: @escaping @Sendable (EventSequence) -> Void) -> AppendHook {
        AppendHook(id: board.addHook(hook))
    }

    public func removeHook(_ hook: AppendHook) { board.removeHook(hook.id) }
}

/// Identifies a hook that is called after each commit.
public struct AppendHook: Sendable, Hashable {
    let id: UInt64
}

/// The events of a log, as ranges of sequences, as they arrive.
public struct EventSubscription: AsyncSequence, Sendable {
    public typealias Element = ClosedRange<EventSequence>
    public typealias Failure = Never

    let log: EventLog
    let after: EventSequence
    let batch: Int

    public func makeAsyncIterator() -> Iterator { Iterator(log: log, last: after, batch: batch) }

    public struct Iterator: AsyncIteratorProtocol {
        let log: EventLog
        var last: EventSequence
        let batch: Int
        /// The delays while another process writes.
        private var pace = PollPace()

        init(log: EventLog, last: EventSequence, batch: Int) { (self.log, self.last, self.batch) = (log, last, batch) }

        public mutating func next() async -> ClosedRange<EventSequence>? { await next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> ClosedRange<EventSequence>? {
            while !Task.isCancelled {
                let head = log.head
                last = Swift.max(last, log.first.advanced(by: -1))
                if head > last {
                    let first = last.advanced(by: 1)
                    last = Swift.min(head, last.advanced(by: batch))
                    pace = PollPace()
                    return first...last
                }
                guard !log.board.isClosed else { return nil }
                if log.isReadOnly {
                    await pace.wait()
                } else {
                    await log.board.waitForHead(past: last.rawValue)
                }
            }
            return nil
        }
    }
}
