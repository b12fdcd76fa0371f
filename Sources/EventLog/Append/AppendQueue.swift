internal import Dispatch
internal import Glibc
internal import Synchronization

/// Hands appends to the writer's thread: one short lock per append, and a signal only when the writer sleeps.
///
/// Callers of `append` wait for the disk anyway, so the number of callers bounds what they queue; only requests without a waiting
/// caller count against the queue's limit.
///
/// Synchronization: `state` is behind its mutex, `waiting` is atomic; the writer sleeps on `wakeUp`.
final class AppendQueue: Sendable {
    private struct State {
        var lane = AppendBatch()
        /// Lanes that have been served and can be filled again.
        var spares: [AppendBatch] = []
        var isWriterAsleep = false
        /// Schedules a step of the writer if it runs on the pool.
        var schedule: Schedule?
        var isClosed = false
        /// The clock when the first small event entered the lane; nil while the lane has none.
        var laneArrival: Int64?
        /// Queued bytes that no caller waits for.
        var unattendedBytes = 0
    }

    enum Refusal {
        case closed
        case full
    }

    private let state = Mutex(State())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let limit: Int
    /// The number of entries in the lane that is being filled.
    private let waiting = Atomic<Int>(0)
    private let sharesClock: Bool

    private let clock: @Sendable () -> Timestamp

    /// - Parameter sharesClock: whether events that wait together share one reading of the clock, which is fine if the file is in memory
    ///   and they wait for microseconds.
    init(limit: Int, sharesClock: Bool, clock: @escaping @Sendable () -> Timestamp) {
        self.limit = limit
        self.sharesClock = sharesClock
        self.clock = clock
    }

    var waitingCount: Int { waiting.load(ordering: .relaxed) }

    /// Adds a small single event.
    func push(
        _ header: RecordHeader, _ payload: [UInt8], _ waiter: UnsafeContinuation<UInt64, any Error>
    ) -> Refusal? {
        var wake = Wake.none
        var header = header
        if !sharesClock { header.arrival = clock().microseconds }
        let refusal: Refusal? = state.withLock { state in
            if state.isClosed { return .closed }
            if sharesClock {
                let arrival = state.laneArrival ?? clock().microseconds
                state.laneArrival = arrival
                header.arrival = arrival
            }
            unsafe state.lane.add(header, payload, waiter)
            waiting.store(state.lane.entries.count, ordering: .relaxed)
            if state.isWriterAsleep { wake = Self.wake(&state) }
            return nil
        }
        perform(wake)
        return refusal
    }

    /// Adds any other request. A request without a waiting caller is refused when the limit is reached.
    func push(_ request: AppendRequest, isAttended: Bool) -> Refusal? {
        let unattendedBytes = isAttended ? 0 : max(request.size, 1)
        var wake = Wake.none
        let refusal: Refusal? = state.withLock { state in
            if state.isClosed { return .closed }
            if unattendedBytes > 0 {
                if state.unattendedBytes > 0 && state.unattendedBytes + unattendedBytes > limit { return .full }
                state.unattendedBytes += unattendedBytes
            }
            state.lane.add(request)
            waiting.store(state.lane.entries.count, ordering: .relaxed)
            if state.isWriterAsleep { wake = Self.wake(&state) }
            return nil
        }
        perform(wake)
        return refusal
    }

    private enum Wake {
        case none
        case wakeUp
        case schedule(Schedule)
    }

    private static func wake(_ state: inout State) -> Wake {
        state.isWriterAsleep = false
        return state.schedule.map { .schedule($0) } ?? .wakeUp
    }

    private func perform(_ wake: Wake) {
        switch wake {
        case .none: break
        case .wakeUp: wakeUp.signal()
        case .schedule(let schedule): schedule.body()
        }
    }

    /// Whether nothing waits and the writer sleeps.
    var isIdle: Bool { state.withLock { $0.isWriterAsleep && !$0.isClosed } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Has the writer's steps scheduled by `schedule` instead of waking a thread; nil ends it.
    func serveFromPool(_ schedule: Schedule?) {
        state.withLock { state in
            state.schedule = schedule
            state.isWriterAsleep = schedule != nil
        }
    }

    /// Returns everything that waits, after sleeping until there is something. Nil when the queue is closed and empty.
    ///
    /// - Parameters:
    ///   - expected: how many callers were recently active. Callers that append one event after the other
    ///     come back within microseconds of a commit; if a commit takes much longer, waiting that long for them saves one.
    ///   - lingerNanoseconds: how long to wait for them at most.
    func take(expected: Int, lingerNanoseconds: UInt64) -> AppendBatch? {
        if lingerNanoseconds > 0 && waitingCount < expected { linger(expected, lingerNanoseconds) }
        while true {
            if let lane = takeNow() { return lane }
            switch rest() {
            case .more: break
            case .asleep: wakeUp.wait()
            case .ended: return nil
            }
        }
    }

    /// Everything that waits, nil when there is nothing.
    func takeNow() -> AppendBatch? {
        state.withLock { state in
            guard !state.lane.entries.isEmpty else { return nil }
            var lane = state.spares.popLast() ?? AppendBatch()
            swap(&lane, &state.lane)
            state.laneArrival = nil
            state.unattendedBytes = 0
            waiting.store(0, ordering: .relaxed)
            return lane
        }
    }

    enum Rest {
        /// Something waits.
        case more
        /// Nothing waits; the next request wakes the writer.
        case asleep
        /// Nothing waits and nothing will come.
        case ended
    }

    /// Lets the writer sleep when there is nothing to do.
    func rest() -> Rest {
        state.withLock { state in
            if !state.lane.entries.isEmpty { return .more }
            if state.isClosed { return .ended }
            state.isWriterAsleep = true
            return .asleep
        }
    }

    private func linger(_ expected: Int, _ nanoseconds: UInt64) {
        let end = DispatchTime.now().uptimeNanoseconds + nanoseconds
        while waitingCount < expected && DispatchTime.now().uptimeNanoseconds < end { sched_yield() }
    }

    /// Makes the writer run a transaction even when no append waits, for work that was prepared beside it.
    func nudge(_ time: Timestamp) {
        let request = AppendRequest(
            work: .many([]), cursor: nil, token: nil, arrival: time.microseconds, completion: .callback { _ in })
        _ = push(request, isAttended: true)
    }

    /// Returns a lane for reuse once all its callers have their outcomes.
    func recycle(_ lane: consuming AppendBatch) {
        lane.removeAll()
        let empty = lane
        state.withLock { state in
            if state.spares.count < 4 { state.spares.append(empty) }
        }
    }

    /// Stops accepting requests; those that wait are still served.
    func close() {
        let wake: Wake = state.withLock { state in
            state.isClosed = true
            return state.isWriterAsleep ? Self.wake(&state) : .none
        }
        perform(wake)
    }
}

/// Schedules one step of the writer on the pool.
struct Schedule: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
