internal import Synchronization

/// Where the writer publishes the new head after each commit, and where subscriptions and hooks wait for it.
///
/// Synchronization: numbers are atomic, the hooks behind the mutex.
final class HeadPublisher: Sendable {
    private struct State {
        var hooks: [UInt64: @Sendable (EventSequence) -> Void] = [:]
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())
    private let headNumber: RisingNumber
    private let cutNumber: Atomic<UInt64>

    init(head: UInt64, cut: UInt64 = 0) {
        headNumber = RisingNumber(head)
        cutNumber = Atomic(cut)
    }

    /// The last event that retention has dropped.
    var cut: UInt64 { cutNumber.load(ordering: .acquiring) }

    func raiseCut(_ cut: UInt64) { cutNumber.store(cut, ordering: .releasing) }

    var head: UInt64 { headNumber.value }
    var isClosed: Bool { headNumber.isClosed }

    /// Remembers a head that was read from the file.
    func raise(_ head: UInt64) { headNumber.set(head) }

    func publish(_ head: UInt64) {
        headNumber.raise(to: head)
        for hook in state.withLock({ Array($0.hooks.values) }) { hook(EventSequence(head)) }
    }

    func close() { headNumber.close() }

    /// Suspends until the head is past `sequence`, the log is closed or the task is cancelled.
    func waitForHead(past sequence: UInt64) async { await headNumber.wait(past: sequence) }

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
