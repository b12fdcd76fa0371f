import Synchronization

/// A clock that stands still until a test moves it: a `LedgerClock` where a test target says so.
public final class VirtualClock: Sendable {
    private struct Sleeper {
        var id: Int
        var target: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Duration.zero
        var nextID = 0
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    public init() {}

    public var now: Duration { state.withLock { $0.now } }
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }
    /// When those that sleep want to wake.
    public var sleepers: [Duration] { state.withLock { $0.sleepers.map(\.target) } }

    public func sleep(until time: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state -> Bool? in
                    if state.cancelled.contains(id) { return nil }
                    if state.now >= time { return true }
                    state.sleepers.append(Sleeper(id: id, target: time, continuation: continuation))
                    return false
                }
                if isOver == nil { continuation.resume(throwing: CancellationError()) }
                if isOver == true { continuation.resume() }
            }
        } onCancel: {
            let woken = state.withLock { state -> Sleeper? in
                state.cancelled.insert(id)
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
                return state.sleepers.remove(at: index)
            }
            woken?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves the time and wakes who waited for it.
    ///
    /// - Returns: how many did.
    @discardableResult
    public func advance(to time: Duration) -> Int {
        let woken = state.withLock { state -> [Sleeper] in
            state.now = time
            let woken = state.sleepers.filter { $0.target <= time }
            state.sleepers.removeAll { $0.target <= time }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
        return woken.count
    }
}
