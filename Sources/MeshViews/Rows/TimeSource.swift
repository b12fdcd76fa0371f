/// The clock behind a row's time.
///
/// A known time wins over that of an import, in whatever order they arrive: an import's time is shown only if there is no other.
public enum TimeSource: UInt8, Sendable, CaseIterable, Codable {
    /// The sender's own stamp: a GPS fix, or the time it put into the payload.
    case sender = 1
    /// The receiving node's clock (`rx_time`).
    case receiver = 2
    /// The reception time that an imported file recorded.
    case recorded = 3
    /// When it arrived here, live.
    case arrival = 4
    /// The time of its import: nothing says when it was heard.
    case `import` = 5
}

/// A time of a row, or of a change of it, for comparison: an import's time counts only against other imports' times.
package struct RowTime {
    var time: UInt32
    var source: TimeSource

    package init(_ time: UInt32, _ source: TimeSource) { (self.time, self.source) = (time, source) }
    init(_ time: (time: UInt32, source: TimeSource)) { self.init(time.time, time.source) }

    /// Whether it says when something was heard.
    var isKnown: Bool { source != .import }
    /// The time when looking for the latest: 0 if unknown.
    var latest: UInt32 { isKnown ? time : 0 }
    /// The time when looking for the earliest: the latest of all times if unknown.
    var earliest: UInt32 { isKnown ? time : .max }

    /// Widens the interval from the first to the last time so that it includes this one.
    /// - Parameter isOfImport: whether no time in the interval is known; both ends are 0 if it is empty.
    @inline(__always)
    package func widen(_ first: inout UInt32, _ last: inout UInt32, _ isOfImport: inout Bool) {
        if isKnown == !isOfImport && last != 0 {
            first = min(first, time)
            last = max(last, time)
        } else if isKnown || last == 0 {
            (first, last, isOfImport) = (time, time, !isKnown)
        }
    }
}
