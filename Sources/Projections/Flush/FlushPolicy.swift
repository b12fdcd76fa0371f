/// When a view's pending rows are committed.
///
/// The figures are the Meshtastic app's: two seconds of quiet, and a hard ceiling of five seconds from the first
/// unflushed change, here kept from the *first* event and never extended.
public struct FlushPolicy: Sendable, Equatable {
    /// A debounced change is committed after this long without another change.
    public var quietPeriod: Duration
    /// A debounced change is committed at most this long after it arrived.
    public var ceiling: Duration
    /// The minimum time between two commits for immediate changes.
    public var immediateInterval: Duration
    /// Pending bytes at which a flush happens regardless of the clock.
    public var pendingBytesLimit: Int
    /// The number of events without a row of this view after which its checkpoint is committed anyway.
    public var idleEventLimit: UInt64

    public init(
        quietPeriod: Duration = .seconds(2), ceiling: Duration = .seconds(5), immediateInterval: Duration = .milliseconds(10),
        pendingBytesLimit: Int = 16 << 20, idleEventLimit: UInt64 = 100_000
    ) {
        self.quietPeriod = quietPeriod
        self.ceiling = ceiling
        self.immediateInterval = immediateInterval
        self.pendingBytesLimit = pendingBytesLimit
        self.idleEventLimit = idleEventLimit
    }
}

/// How soon a change should be on disk.
@usableFromInline
package enum Urgency: Int, Sendable, Comparable {
    /// Nothing of this view changed: only its checkpoint moved.
    case none
    /// After quiet, or at the ceiling: positions, telemetry, last-heard times.
    case debounced
    /// At the end of the batch: messages, waypoints, node info, routing.
    case immediate

    @usableFromInline
    package static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
}

/// Why a commit happened, counted in a view's statistics.
public enum FlushReason: String, Sendable, CaseIterable {
    case immediate, quiet, ceiling, size, request, close
}
