/// The time that a log itself confirms, and from which ages count: it advances arrival by arrival, by no more than a usual pause.
/// A clock that suddenly shows another time is accepted once the log has continued from there for long enough; if the jump was measured against
/// a steady clock, it is corrected.
struct LogTime {
    /// In microseconds: how much later an arrival may be than earlier ones.
    let longestStep: Int64
    /// How much time the log must have covered at the other time for it to be accepted.
    let proof: Int64
    /// How much earlier an arrival may be than previous ones.
    private static let slack: Int64 = 3_600_000_000
    private static let mostOffsets = 16
    private static let mostLeaps = 64

    /// The latest arrival, by the accepted clock; nil before the first.
    private(set) var time: Int64?
    /// How far the clock is ahead of the accepted one.
    private var offset: Int64 = 0
    /// All observed offsets of the clock.
    private var offsets: [Int64] = [0]
    /// The other time that the clock shows, unless that was a short-lived error, and how often the log went on there after a while.
    private var elsewhere: (first: Int64, last: Int64, counted: Int64, visits: Int)?
    /// The times from which it has moved ahead: a clock that shows again what followed one of them was ahead since then.
    private var leaps: [Int64] = []
    /// Two single arrivals of a clock that jumps about do not prove a time: it takes this many, each an eighth of `proof` after the one before.
    private static let leastVisits = 4

    /// - Parameter age: the age counted from this time, in seconds.
    init(age: Int64) {
        let (product, overflows) = age.multipliedReportingOverflow(by: 1_000_000)
        let age = overflows ? .max : product
        longestStep = min(max(age / 4, Self.slack), 36 * Self.slack)
        proof = min(max(age, Self.slack), 7 * 24 * Self.slack)
    }

    enum Finding {
        /// It continues as before: the other time was an error.
        case goesOn
        /// It shows another time, and it is not yet known whether that is right.
        case waits
        /// It has shown the other time long enough for it to be accepted.
        case moved
    }

    /// The clock jumped by this much, measured against a steady one.
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
            elsewhere = (arrival, arrival, arrival, 1)
            return .waits
        }
        let isVisit = arrival >= Self.sum(place.counted, proof / 8)
        let visits = place.visits + (isVisit ? 1 : 0)
        elsewhere = (place.first, max(place.last, arrival), isVisit ? arrival : place.counted, visits)
        guard Self.difference(arrival, place.first) >= proof, visits >= Self.leastVisits else { return .waits }
        move(to: arrival, since: place.first, after: time)
        return .moved
    }

    /// If forward, time has passed in between. If backward, it is unknown how much, unless the clock was ahead before: then it goes on from there.
    private mutating func move(to arrival: Int64, since first: Int64, after time: Int64) {
        elsewhere = nil
        let place = Self.difference(first, offset)
        if place > time {
            leaps.append(time)
            if leaps.count > Self.mostLeaps { leaps.removeFirst() }
        } else if let leap = leaps.lastIndex(where: { place >= Self.sum($0, -Self.slack) }) {
            self.time = leaps[leap]
            leaps.removeSubrange(leap...)
        } else {
            offset = Self.difference(first, time)
            jump(by: 0)
        }
        self.time = max(self.time ?? time, Self.difference(arrival, offset))
    }

    /// Whether the last arrival has a time that is not accepted yet.
    var isElsewhere: Bool { elsewhere != nil }

    /// An arrival by the accepted clock.
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
