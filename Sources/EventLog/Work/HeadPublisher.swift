internal import Synchronization

/// Publishes the new head after each commit to waiting subscriptions and hooks.
///
/// Synchronization: `head` and `cut` are atomic, everything else behind the mutex.
final class HeadPublisher: Sendable {
    private struct State {
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var hooks: [UInt64: @Sendable (EventSequence) -> Void] = [:]
        var nextID: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let headNumber: Atomic<UInt64>
    private let cutNumber: Atomic<UInt64>

    init(head: UInt64, cut: UInt64 = 0) {
        headNumber = Atomic(head)
        cutNumber = Atomic(cut)
    }

    /// The last event that retention has dropped.
    var cut: UInt64 { cutNumber.load(ordering: .acquiring) }

    func raiseCut(_ cut: UInt64) { cutNumber.store(cut, ordering: .releasing) }

    var head: UInt64 { headNumber.load(ordering: .acquiring) }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Remembers a head that was read from the file.
    func raise(_ head: UInt64) { headNumber.store(head, ordering: .releasing) }

    func publish(_ head: UInt64) {
        headNumber.store(head, ordering: .releasing)
        let (waiters, hooks) = takeWaiters()
        for waiter in waiters { waiter.resume() }
        for hook in hooks { hook(EventSequence(head)) }
    }

    private func takeWaiters() -> ([CheckedContinuation<Void, Never>], [@Sendable (EventSequence) -> Void]) {
        state.withLock { state in
            let waiters = Array(state.waiters.values)
            state.waiters.removeAll()
            return (waiters, Array(state.hooks.values))
        }
    }

    /// Wakes all waiters for good.
    func close() {
        state.withLock { $0.isClosed = true }
        let (waiters, _) = takeWaiters()
        for waiter in waiters { waiter.resume() }
    }

    /// Suspends until the head is past `sequence`, the board is closed or the task is cancelled.
    func waitForHead(past sequence: UInt64) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isWaiting = state.withLock { state in
                    guard !state.isClosed, head <= sequence, !Task.isCancelled else { return false }
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

    func addHook(_ hook: @escaping @Sendable (EventSequence) -> Void) -> UInt64 {
        state.withLock { state in
            state.nextID += 1
            state.hooks[state.nextID] = hook
            return state.nextID
        }
    }

    func removeHook(_ id: UInt64) {
        state.withLock { state in _ = state.hooks.removeValue(forKey: id) }
    }
}
