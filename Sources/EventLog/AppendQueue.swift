internal import Dispatch
internal import Glibc
internal import Synchronization

/// Hands appends to the writer's thread: one short lock per append, and a signal only when the writer sleeps.
///
/// Callers of `append` wait for the disk anyway, so what waits here is bounded by the number of callers; only what comes without a
/// waiting caller counts against the queue's limit.
///
/// Synchronization: `state` is behind its mutex, `waiting` is atomic; the writer sleeps on `bell`.
final class AppendQueue: Sendable {
    private struct State {
        var lane = AppendLane()
        /// Lanes that have been served and can be filled again.
        var spares: [AppendLane] = []
        var isWriterAsleep = false
        var isClosed = false
        /// Bytes in the queue that no caller waits for.
        var unattendedBytes = 0
    }

    enum Refusal {
        case closed
        case full
    }

    private let state = Mutex(State())
    private let bell = DispatchSemaphore(value: 0)
    private let limit: Int
    /// Entries in the lane that is being filled.
    private let waiting = Atomic<Int>(0)

    init(limit: Int) { self.limit = limit }

    var waitingCount: Int { waiting.load(ordering: .relaxed) }

    /// Adds a small single event.
    func push(
        _ header: RecordHeader, _ payload: [UInt8], _ waiter: UnsafeContinuation<UInt64, any Error>
    ) -> Refusal? {
        var rings = false
        let refusal: Refusal? = state.withLock { state in
            if state.isClosed { return .closed }
            unsafe state.lane.add(header, payload, waiter)
            waiting.store(state.lane.entries.count, ordering: .relaxed)
            rings = state.isWriterAsleep
            state.isWriterAsleep = false
            return nil
        }
        if rings { bell.signal() }
        return refusal
    }

    /// Adds any other request. One that nobody waits for is refused when the limit is reached.
    func push(_ request: AppendRequest, isAttended: Bool) -> Refusal? {
        let unattendedBytes = isAttended ? 0 : max(request.size, 1)
        var rings = false
        let refusal: Refusal? = state.withLock { state in
            if state.isClosed { return .closed }
            if unattendedBytes > 0 {
                if state.unattendedBytes > 0 && state.unattendedBytes + unattendedBytes > limit { return .full }
                state.unattendedBytes += unattendedBytes
            }
            state.lane.add(request)
            waiting.store(state.lane.entries.count, ordering: .relaxed)
            rings = state.isWriterAsleep
            state.isWriterAsleep = false
            return nil
        }
        if rings { bell.signal() }
        return refusal
    }

    /// All that waits, after sleeping until there is something. Nil when the queue is closed and empty.
    ///
    /// - Parameters:
    ///   - expected: how many callers were seen at work. Where several append one event after the other, those whose events were just
    ///     stored come back within microseconds; where a commit takes much longer, waiting that long for them spares one.
    ///   - lingerNanoseconds: how long to wait for them at most.
    func take(expected: Int, lingerNanoseconds: UInt64) -> AppendLane? {
        if lingerNanoseconds > 0 && waitingCount < expected { linger(expected, lingerNanoseconds) }
        while true {
            var lane: AppendLane?
            let isClosed: Bool = state.withLock { state in
                if state.lane.entries.isEmpty {
                    state.isWriterAsleep = !state.isClosed
                    return state.isClosed
                }
                lane = state.lane
                state.lane = state.spares.popLast() ?? AppendLane()
                state.unattendedBytes = 0
                waiting.store(0, ordering: .relaxed)
                return false
            }
            if let lane { return lane }
            if isClosed { return nil }
            bell.wait()
        }
    }

    private func linger(_ expected: Int, _ nanoseconds: UInt64) {
        let end = DispatchTime.now().uptimeNanoseconds + nanoseconds
        while waitingCount < expected && DispatchTime.now().uptimeNanoseconds < end { sched_yield() }
    }

    /// Takes a lane back whose callers have been told.
    func recycle(_ lane: AppendLane) {
        lane.removeAll()
        state.withLock { state in
            if state.spares.count < 4 { state.spares.append(lane) }
        }
    }

    /// Takes no more requests; those that wait are still served.
    func close() {
        let rings = state.withLock { state in
            state.isClosed = true
            defer { state.isWriterAsleep = false }
            return state.isWriterAsleep
        }
        if rings { bell.signal() }
    }
}
