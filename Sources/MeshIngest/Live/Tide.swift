import Synchronization

/// A counter that tasks wait on: it rises with new events, new answers or free space in a queue.
///
/// Synchronization: the mutex guards everything; continuations are resumed outside of it.
final class Tide: Sendable {
    private struct State {
        var level: UInt64 = 0
        var nextWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    var level: UInt64 { state.withLock { $0.level } }

    func rise() {
        let waiters = state.withLock { state in
            state.level &+= 1
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Returns when the level has changed, or the task is cancelled.
    func wait(past level: UInt64) async {
        let number = state.withLock { state in
            state.nextWaiter &+= 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.level != level || Task.isCancelled { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    /// The same, with a time limit.
    func wait(past level: UInt64, seconds: Double) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(past: level) }
            group.addTask { try? await Task.sleep(for: .seconds(seconds)) }  // if cancelled, the other task was first
            await group.next()
            group.cancelAll()
        }
    }
}
