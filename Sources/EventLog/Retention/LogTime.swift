/// The time that a log itself bears out, which an age is counted from: arrival by arrival it goes on, and steps no further than a pause that is
/// usual. A clock that is suddenly elsewhere is believed when the log has gone on from there for long enough, or, where the jump was measured
/// beside a steady clock, is set right.
struct LogTime {
    /// In microseconds: what later an arrival may be than those before.
    let longestStep: Int64
    /// What longer a log must have gone on elsewhere to be believed.
    let proof: Int64
    /// What an arrival may be earlier than those before.
    private static let slack: Int64 = 3_600_000_000
    private static let mostOffsets = 16

    /// The latest arrival, as the clock in force would have shown it; nil before the first.
    private(set) var time: Int64?
    /// What the clock is ahead of that in force.
    private var offset: Int64 = 0
    /// All that the clock has been seen to be ahead.
    private var offsets: [Int64] = [0]
    /// Where the clock is unless that was a mistake of short duration.
    private var elsewhere: (first: Int64, last: Int64)?

    /// - Parameter age: what is counted from this time, in seconds.
    init(age: Int64) {
        let age = Int64(clamping: age.multipliedReportingOverflow(by: 1_000_000).overflow ? .max : age * 1_000_000)
        longestStep = min(max(age / 4, Self.slack), 36 * Self.slack)
        proof = min(max(age, Self.slack), 7 * 24 * Self.slack)
    }

    enum Finding {
        /// It goes on as before: what had been seen elsewhere was a mistake.
        case goesOn
        /// It is elsewhere, and nobody knows yet whether that is right.
        case waits
        /// It has been elsewhere for so long that it is right.
        case moved
    }

    /// The clock has jumped by so much, beside a steady one.
    mutating func jump(by distance: Int64) {
        let (moved, overflows) = offset.addingReportingOverflow(distance)
        guard !overflows, !offsets.contains(moved) else { return }
        offsets.append(moved)
        if offsets.count > Self.mostOffsets { offsets.remove(at: 1) }
    }

    mutating func see(_ arrival: Int64) -> Finding {
        guard let time else {
            time = arrival
            return .goesOn
        }
        for candidate in [offset] + offsets {
            let seen = arrival.subtractingReportingOverflow(candidate)
            guard !seen.overflow, seen.partialValue >= Self.sum(time, -Self.slack),
                seen.partialValue <= Self.sum(time, longestStep)
            else { continue }
            offset = candidate
            self.time = max(time, seen.partialValue)
            elsewhere = nil
            return .goesOn
        }
        guard let place = elsewhere, arrival >= Self.sum(place.first, -Self.slack), arrival <= Self.sum(place.last, 2 * proof)
        else {
            elsewhere = (arrival, arrival)
            return .waits
        }
        elsewhere = (place.first, max(place.last, arrival))
        guard Self.difference(arrival, place.first) >= proof else { return .waits }
        move(to: arrival, since: place.first, after: time)
        return .moved
    }

    /// Ahead, time has passed in between; behind, none that anyone knows of.
    private mutating func move(to arrival: Int64, since first: Int64, after time: Int64) {
        elsewhere = nil
        if Self.difference(first, offset) <= time {
            offset = Self.difference(first, time)
            jump(by: 0)
        }
        self.time = max(time, Self.difference(arrival, offset))
    }

    /// Whether the last arrival was where nobody knows yet whether that is right.
    var isElsewhere: Bool { elsewhere != nil }

    /// An arrival as the clock in force would have shown it.
    func inForce(_ arrival: Int64) -> Int64 { Self.difference(arrival, offset) }

    static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflows) = left.addingReportingOverflow(right)
        return overflows ? (right < 0 ? .min : .max) : sum
    }

    static func difference(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, overflows) = left.subtractingReportingOverflow(right)
        return overflows ? (right < 0 ? .max : .min) : difference
    }
}
