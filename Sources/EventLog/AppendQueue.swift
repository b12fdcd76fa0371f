internal import Dispatch
internal import Synchronization

/// Hands appends to the writer's thread: one short lock per append, and a signal only when the writer sleeps.
///
/// Callers of `append` wait for the disk anyway, so what waits here is bounded by the number of callers; only what comes without a
/// waiting caller counts against the queue's limit.
///
/// Synchronization: `state` is behind its mutex; the writer sleeps on `bell`.
final class AppendQueue: Sendable {
    private struct State {
        var requests: [AppendRequest] = []
        var isWriterAsleep = false
        var isClosed = false
        /// Bytes in the queue that no caller waits for.
        var unattendedBytes = 0
    }

    private let state = Mutex(State())
    private let bell = DispatchSemaphore(value: 0)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    enum Refusal {
        case closed
        case full
    }

    /// Adds a request that its caller waits for.
    func push(_ request: AppendRequest) -> Refusal? {
        enqueue(request, unattendedBytes: 0)
    }

    /// Adds a request that nobody waits for, unless the limit is reached.
    func pushUnattended(_ request: AppendRequest) -> Refusal? {
        enqueue(request, unattendedBytes: request.size)
    }

    private func enqueue(_ request: AppendRequest, unattendedBytes: Int) -> Refusal? {
        var rings = false
        let refusal: Refusal? = state.withLock { state in
            if state.isClosed { return .closed }
            if unattendedBytes > 0 {
                if state.unattendedBytes > 0 && state.unattendedBytes + unattendedBytes > limit { return .full }
                state.unattendedBytes += unattendedBytes
            }
            state.requests.append(request)
            rings = state.isWriterAsleep
            state.isWriterAsleep = false
            return nil
        }
        if rings { bell.signal() }
        return refusal
    }

    /// Swaps all that waits with the empty array `requests`, after sleeping until there is something.
    /// - Returns: false when the queue is closed and empty.
    func take(_ requests: inout [AppendRequest]) -> Bool {
        while true {
            let isClosed: Bool = state.withLock { state in
                swap(&state.requests, &requests)
                state.unattendedBytes = 0
                state.isWriterAsleep = requests.isEmpty && !state.isClosed
                return state.isClosed
            }
            if !requests.isEmpty { return true }
            if isClosed { return false }
            bell.wait()
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
