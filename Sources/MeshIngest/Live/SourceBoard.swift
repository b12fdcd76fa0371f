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
        /// Since when the ledger has no space, and why.
        var full: (since: Timestamp, reason: String)?

        /// Its status, which is to wait while the ledger has no space, whatever its connection does.
        var shown: SourceStatus {
            guard let full, status.state != .failed, status.state != .stopped else { return status }
            var status = status
            (status.state, status.since) = (.waiting, full.since)
            (status.lastError, status.lastErrorTime) = (full.reason, full.since)
            return status
        }
    }

    private static let rateSeconds = 10.0
    /// Lower rates are shown as 0.
    private static let leastRate = 0.01
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
            var status = state.shown
            if status.ratePerSecond < Self.leastRate { status.ratePerSecond = 0 }
            return status
        }
    }

    func enter(_ new: SourceState, _ text: String) {
        let status = state.withLock { state in
            if state.status.state != new { state.status.since = .now }
            state.status.state = new
            return state.shown
        }
        report(status, text)
    }

    /// - Parameter isTrouble: whether packets are not received or not stored because of it.
    func report(_ text: String, isTrouble: Bool = false) {
        var status = status
        if isTrouble { status.state = .waiting } else if status.state == .waiting { status.state = .connecting }
        report(status, text)
    }

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
    func report(_ notice: SpaceNotice) {
        state.withLock { state in
            switch notice {
            case .full: state.full = (.now, notice.description)
            case .roomAgain:
                (state.status.lastError, state.status.lastErrorTime) = (state.full?.reason, state.full?.since)
                (state.full, state.status.since) = (nil, .now)
            case .writerGone: break
            }
        }
        report(notice.description, isTrouble: notice.isTrouble)
    }

    /// A part of it fails, while the rest goes on.
    func troubled(_ error: String) {
        state.withLock {
            $0.status.lastError = error
            $0.status.lastErrorTime = .now
        }
        report(error, isTrouble: true)
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
