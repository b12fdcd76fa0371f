package import EventLog

/// Which clocks are trusted.
///
/// A live packet was received when its event arrived; for an imported one the time in its file counts, else the receiver's own (`rx_time`), if it lies
/// between 2020-01-01 and five minutes after the arrival here. A sender's stamp counts only when it lies between that time less 24 hours and plus 5 minutes,
/// or, where the time of reception is unknown, between 2020-01-01 and its arrival plus 5 minutes. All times are seconds since 1970.
struct TimePolicy: Sendable {
    static let secondsBack: UInt32 = 86_400
    static let secondsAhead: UInt32 = 300
    static let year2020: UInt32 = 1_577_836_800
    /// As part of recipes.
    static let text = "time=-\(secondsBack)..+\(secondsAhead),2020,rx"

    /// When it was received, or nil if it is unknown.
    var reception: UInt32?
    /// The source of that time.
    var receptionSource: TimeSource
    var arrival: UInt32
    /// State that a 2.8 node replays to its client keeps its own time.
    var isReplayedState: Bool

    /// - Parameters:
    ///   - reception: from the log: for a live event its arrival, else the time that its file recorded, if it is plausible.
    ///   - received: `rx_time`; 0 if missing.
    init(reception: UInt32?, isLive: Bool, arrival: UInt32, received: UInt32 = 0, isReplayedState: Bool = false) {
        (self.arrival, self.isReplayedState) = (arrival, isReplayedState)
        if let reception {
            (self.reception, receptionSource) = (reception, isLive ? .arrival : .recorded)
        } else {
            let isKnown = !isReplayedState && Self.isPlausible(received, arrival: arrival)
            (self.reception, receptionSource) = (isKnown ? received : nil, .receiver)
        }
    }

    /// Whether a file's or a receiver's clock can have shown this before the packet arrived here.
    static func isPlausible(_ time: UInt32, arrival: UInt32) -> Bool { time >= year2020 && time <= later(arrival) }

    func accepts(_ stamp: UInt32) -> Bool {
        guard stamp != 0, stamp <= Self.later(max(arrival, reception ?? 0)) else { return false }
        if isReplayedState { return true }
        guard let reception else { return stamp >= Self.year2020 }
        let earliest = reception > Self.secondsBack ? reception - Self.secondsBack : 0
        return stamp >= earliest && stamp <= Self.later(reception)
    }

    /// The latest time that a row of an event received or arrived then can have, unless it is replayed state.
    static func later(_ time: UInt32) -> UInt32 {
        let (sum, overflow) = time.addingReportingOverflow(secondsAhead)
        return overflow ? .max : sum
    }

    /// The time of a row with these stamps of sender and receiver (0 = no stamp).
    func time(fix: UInt32 = 0, sent: UInt32 = 0, received: UInt32) -> (time: UInt32, source: TimeSource) {
        if accepts(fix) { return (fix, .sender) }
        if accepts(sent) { return (sent, .sender) }
        if accepts(received) { return (received, .receiver) }
        if let reception { return (reception, receptionSource) }
        return (arrival, .import)
    }

    /// When the packet was heard, which decides which values are the first or the latest; 0 if unknown.
    func heard(received: UInt32) -> UInt32 {
        if isReplayedState { return accepts(received) ? received : 0 }
        return reception ?? 0
    }
}

/// The clock that says when an event's packet was heard.
package enum HeardSource: Sendable, Hashable {
    /// The reception time in its recording.
    case recorded
    /// The receiving node's clock (`rx_time`).
    case receiver
    /// Its arrival here, since it was live.
    case arrival
    /// None: the time is that of its import.
    case imported
}

extension EventHeader {
    package func heardSource(rxTime: UInt32) -> HeardSource {
        if reception == .live { return .arrival }
        if knownHeard != nil { return .recorded }
        return TimePolicy.isPlausible(rxTime, arrival: UInt32(clamping: arrivalTime.seconds)) ? .receiver : .imported
    }

    /// When an event's packet was heard, by the same rules as the times of rows; its arrival if that is unknown.
    package func heard(rxTime: UInt32) -> Timestamp {
        if let known = knownHeard { return known }
        return TimePolicy.isPlausible(rxTime, arrival: UInt32(clamping: arrivalTime.seconds))
            ? Timestamp(seconds: Int64(rxTime)) : arrivalTime
    }

    /// Whether `heard` does not depend on the receiver's clock.
    package var knowsWhenHeard: Bool { knownHeard != nil }

    private var knownHeard: Timestamp? {
        if reception == .live { return arrivalTime }
        guard case .recorded(let time) = reception else { return nil }
        let isPlausible = TimePolicy.isPlausible(UInt32(clamping: time.seconds), arrival: UInt32(clamping: arrivalTime.seconds))
        return isPlausible ? time : nil
    }
}
