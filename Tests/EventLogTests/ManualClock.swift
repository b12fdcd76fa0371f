import Dispatch
import EventLog
import Synchronization

/// A clock that a test moves.
final class ManualClock: Sendable {
    private let time: Mutex<Timestamp>

    init(_ start: Timestamp) { time = Mutex(start) }

    var read: @Sendable () -> Timestamp { { self.time.withLock { $0 } } }

    func set(_ time: Timestamp) { self.time.withLock { $0 = time } }

    func advance(seconds: Int64) { time.withLock { $0 = $0.adding(seconds: seconds) } }
}

/// Lets threads through only while it is open.
final class Gate: Sendable {
    private let condition = Mutex(true)
    private let bell = DispatchSemaphore(value: 0)

    func close() { condition.withLock { $0 = false } }

    func open() {
        condition.withLock { $0 = true }
        bell.signal()
    }

    func pass() {
        while !condition.withLock({ $0 }) { bell.wait() }
    }
}
