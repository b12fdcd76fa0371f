/// Where a row's time comes from.
public enum TimeSource: UInt8, Sendable, CaseIterable, Codable {
    /// The sender's own stamp: a GPS fix, or the time it put into the payload.
    case sender = 1
    /// The receiving node's clock (`rx_time`).
    case receiver = 2
    /// The reception time that an imported file recorded.
    case recorded = 3
    /// When it arrived here.
    case arrival = 4
}

/// Which clocks are believed.
///
/// A stamp counts only when it lies between the reception time less 24 hours and plus 5 minutes, or, for an event whose
/// reception time nobody recorded, between 2020-01-01 and its arrival plus 5 minutes. Else the reception or arrival
/// time stands. All times are seconds since 1970.
struct TimePolicy: Sendable {
    static let secondsBack: UInt32 = 86_400
    static let secondsAhead: UInt32 = 300
    static let year2020: UInt32 = 1_577_836_800
    static let text = "time=-86400..+300,2020"

    /// The reception time, or nil where it was not recorded.
    var reception: UInt32?
    var isLive: Bool
    var arrival: UInt32
    /// State that a 2.8 node replays to its client keeps its own time.
    var isReplayedState: Bool

    func accepts(_ stamp: UInt32) -> Bool {
        guard stamp != 0 else { return false }
        if isReplayedState { return true }
        if let reception {
            let earliest = reception > Self.secondsBack ? reception - Self.secondsBack : 0
            return stamp >= earliest && stamp <= Self.later(reception)
        }
        return stamp >= Self.year2020 && stamp <= Self.later(arrival)
    }

    /// The latest time that a row of an event received or arrived then can have, unless it is replayed state.
    static func later(_ time: UInt32) -> UInt32 {
        let (sum, overflow) = time.addingReportingOverflow(secondsAhead)
        return overflow ? .max : sum
    }

    /// The time of a row whose sender and receiver stamped it so (0 = no stamp).
    func time(fix: UInt32 = 0, sent: UInt32 = 0, received: UInt32) -> (time: UInt32, source: TimeSource) {
        if accepts(fix) { return (fix, .sender) }
        if accepts(sent) { return (sent, .sender) }
        if accepts(received) { return (received, .receiver) }
        if let reception { return (reception, isLive ? .arrival : .recorded) }
        return (arrival, .arrival)
    }

    /// When the packet was heard, for the window within which receptions are of one packet; 0 where nobody knows.
    func heard(received: UInt32) -> UInt32 {
        if isReplayedState { return received }
        return reception ?? (accepts(received) ? received : 0)
    }
}
