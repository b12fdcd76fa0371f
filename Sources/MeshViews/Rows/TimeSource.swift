/// Where a row's time comes from.
///
/// A time that is known wins over one of an import, in whatever order they come: that is shown only where there is no other.
public enum TimeSource: UInt8, Sendable, CaseIterable, Codable {
    /// The sender's own stamp: a GPS fix, or the time it put into the payload.
    case sender = 1
    /// The receiving node's clock (`rx_time`).
    case receiver = 2
    /// The reception time that an imported file recorded.
    case recorded = 3
    /// When it arrived here, live.
    case arrival = 4
    /// When it was imported: nothing says when it was heard.
    case `import` = 5
}

/// A time of a row, or of what changes it, as it is compared with others: one of an import counts only beside others of imports.
package struct RowTime {
    var time: UInt32
    var source: TimeSource

    package init(_ time: UInt32, _ source: TimeSource) { (self.time, self.source) = (time, source) }
    init(_ time: (time: UInt32, source: TimeSource)) { self.init(time.time, time.source) }

    /// Whether it says when something was heard.
    var isKnown: Bool { source != .import }
    /// For what is the latest: 0 where it is unknown.
    var latest: UInt32 { isKnown ? time : 0 }
    /// For what is the earliest: the latest of all times where it is unknown.
    var earliest: UInt32 { isKnown ? time : .max }

    /// Takes the time into the stretch from the first to the last one.
    /// - Parameter isOfImport: whether no time in it is known; both are 0 where there is none at all.
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
