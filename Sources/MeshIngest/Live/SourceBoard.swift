import EventLog
import Foundation
import Synchronization

/// The status that a live source publishes.
///
/// Synchronization: any thread may write and read.
final class SourceBoard: Sendable {
    private struct State {
        var status: SourceStatus
        var rateTime = ContinuousClock.now
        /// What it was doing before it waited for space.
        var stateBefore = SourceState.live
    }

    private static let rateSeconds = 10.0
    private let state: Mutex<State>
    private let report: @Sendable (SourceStatus, String) -> Void

    /// - Parameter report: receives each change of state, with one line for people
    init(_ name: String, report: @escaping @Sendable (SourceStatus, String) -> Void) {
        state = Mutex(State(status: SourceStatus(name: name)))
        self.report = report
    }

    var status: SourceStatus {
        state.withLock { state in
            Self.age(&state)
            return state.status
        }
    }

    func enter(_ new: SourceState, _ text: String) {
        let status = state.withLock { state in
            if state.status.state != new { state.status.since = .now }
            state.status.state = new
            return state.status
        }
        report(status, text)
    }

    func tell(_ text: String) { report(status, text) }

    func fail(_ error: String, retrySeconds: Double?) {
        state.withLock {
            $0.status.lastError = error
            $0.status.lastErrorTime = .now
        }
        if let retrySeconds {
            enter(.waiting, "\(error); trying again in \((retrySeconds * 10).rounded() / 10) s")
        } else {
            enter(.failed, error)
        }
    }

    /// The ledger has no space, or has some again.
    func tell(_ notice: SpaceNotice) {
        switch notice {
        case .full:
            state.withLock { if $0.status.state != .waiting { $0.stateBefore = $0.status.state } }
            waits(notice.description)
        case .roomAgain: enter(state.withLock { $0.stateBefore }, notice.description)
        case .writerGone: tell(notice.description)
        }
    }

    /// It continues when something outside of it has changed.
    func waits(_ error: String) {
        state.withLock {
            $0.status.lastError = error
            $0.status.lastErrorTime = .now
        }
        enter(.waiting, error)
    }

    func connected() { state.withLock { $0.status.connectionCount += 1 } }

    func received(_ count: Int) {
        state.withLock { state in
            Self.age(&state)
            state.status.receivedCount += UInt64(count)
            state.status.ratePerSecond += Double(count) / Self.rateSeconds
            state.status.lastArrival = .now
        }
    }

    func stored(_ count: Int) { state.withLock { $0.status.storedCount += UInt64(count) } }

    func dropped(_ count: UInt64) { state.withLock { $0.status.droppedCount += count } }

    func skipped(_ bytes: Int) { state.withLock { $0.status.skippedBytes += UInt64(bytes) } }

    private static func age(_ state: inout State) {
        let now = ContinuousClock.now
        let passed = state.rateTime.duration(to: now) / .seconds(1)
        state.rateTime = now
        state.status.ratePerSecond *= exp(-passed / rateSeconds)
    }
}
