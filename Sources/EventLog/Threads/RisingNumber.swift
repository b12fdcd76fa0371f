internal import Synchronization

/// A number that only rises, and tasks that wait until it is past one that they know.
///
/// Synchronization: the number is atomic, the waiting tasks behind the mutex.
package final class RisingNumber: Sendable {
    private struct State {
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextID: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let number: Atomic<UInt64>

    package init(_ number: UInt64 = 0) { self.number = Atomic(number) }

    package var value: UInt64 { number.load(ordering: .acquiring) }
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Sets the number without waking anyone.
    package func set(_ value: UInt64) { number.store(value, ordering: .releasing) }

    package func raise(to value: UInt64) {
        set(value)
        wake()
    }

    package func raise() {
        number.add(1, ordering: .acquiringAndReleasing)
        wake()
    }

    /// Wakes everyone for good.
    package func close() {
        state.withLock { $0.isClosed = true }
        wake()
    }

    private func wake() {
        let waiters = state.withLock { state in
            defer { state.waiters.removeAll() }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Suspends until the number is past `value`, is closed, or the task is cancelled.
    package func wait(past value: UInt64) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isWaiting = state.withLock { state in
                    guard !state.isClosed, self.value <= value, !Task.isCancelled else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in state.waiters.removeValue(forKey: id) }
            waiter?.resume()
        }
    }

    /// The same, for at most some seconds.
    package func wait(past value: UInt64, seconds: Double) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(past: value) }
            group.addTask { try? await Task.sleep(for: .seconds(seconds)) }  // if cancelled, the other task was first
            await group.next()
            group.cancelAll()
        }
    }
}
