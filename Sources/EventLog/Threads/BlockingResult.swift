internal import Dispatch
internal import Synchronization

/// A value that one thread sets once, and another waits for.
package final class BlockingResult<Value: Sendable>: Sendable {
    private let box = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    package init() {}

    package func set(_ value: Value) {
        box.withLock { $0 = value }
        isThere.signal()
    }

    package func wait() -> Value {
        while true {
            isThere.wait()
            if let value = box.withLock({ $0 }) { return value }
        }
    }

    /// Whether it has been set, at the latest after this time.
    func isSet(within time: DispatchTimeInterval) -> Bool {
        guard isThere.wait(timeout: .now() + time) == .success else { return false }
        isThere.signal()
        return true
    }
}
