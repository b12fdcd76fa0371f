/// The clock that flush timers run on. Tests substitute a virtual one.
public protocol LedgerClock: Sendable {
    /// Time since a fixed point; it never goes back.
    var now: Duration { get }
    /// Returns at that time.
    /// - Throws: `CancellationError` if the task is cancelled first.
    func sleep(until time: Duration) async throws
}

/// The system's monotonic clock.
public struct MonotonicClock: LedgerClock {
    private let start = ContinuousClock.now

    public init() {}

    public var now: Duration { ContinuousClock.now - start }

    public func sleep(until time: Duration) async throws {
        try await Task.sleep(until: start.advanced(by: time), clock: .continuous)
    }
}
