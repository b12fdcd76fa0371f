import Dispatch
package import EventLog
import Synchronization

/// A clock that a test moves.
package final class ManualClock: Sendable {
    private let time: Mutex<Timestamp>

    package init(_ start: Timestamp) { time = Mutex(start) }

    package var read: @Sendable () -> Timestamp { { self.time.withLock { $0 } } }

    package func set(_ time: Timestamp) { self.time.withLock { $0 = time } }

    package func advance(seconds: Int64) { time.withLock { $0 = $0.adding(seconds: seconds) } }
}

/// Lets threads through only while it is open.
package final class Gate: Sendable {
    private let condition = Mutex(true)
    private let wakeUp = DispatchSemaphore(value: 0)
    private let held = Mutex(0)

    package init() {}

    /// Whether a thread waits for it to be opened.
    package var isHolding: Bool { held.withLock { $0 } > 0 }

    package func close() { condition.withLock { $0 = false } }

    package func open() {
        condition.withLock { $0 = true }
        wakeUp.signal()
    }

    package func pass() {
        held.withLock { $0 += 1 }
        while !condition.withLock({ $0 }) { wakeUp.wait() }
        held.withLock { $0 -= 1 }
    }
}
