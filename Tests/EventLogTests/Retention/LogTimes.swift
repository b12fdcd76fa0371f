import TestKit
import Testing

@testable import EventLog

/// The time that a log itself confirms, to the microsecond.
struct LogTimes {
    private static let hour: Int64 = 3_600_000_000

    /// After a first arrival at `start`.
    private func time(age: Int64, start: Int64 = 0) -> LogTime {
        var time = LogTime(age: age)
        #expect(time.time == nil && time.see(start) == .goesOn && time.time == start)
        return time
    }

    /// What becomes of one more arrival.
    private func finding(_ time: LogTime, _ arrival: Int64) -> LogTime.Finding {
        var time = time
        return time.see(arrival)
    }

    @Test func `a usual pause is a quarter of the age within one and 36 hours, and proof is the age within an hour and a week`() {
        for (age, step, proof) in [
            (0, Self.hour, Self.hour), (3_600, Self.hour, Self.hour), (3_601, Self.hour, 3_601_000_000),
            (14_400, Self.hour, 4 * Self.hour), (14_404, 3_601_000_000, 14_404_000_000), (86_400, 6 * Self.hour, 24 * Self.hour),
            (518_400, 36 * Self.hour, 144 * Self.hour), (518_404, 36 * Self.hour, 518_404_000_000),
            (604_800, 36 * Self.hour, 168 * Self.hour), (604_801, 36 * Self.hour, 168 * Self.hour),
            (9_223_372_036_854, 36 * Self.hour, 168 * Self.hour), (.max, 36 * Self.hour, 168 * Self.hour),
        ] as [(Int64, Int64, Int64)] {
            let time = LogTime(age: age)
            #expect(time.longestStep == step && time.proof == proof, "\(age)")
        }
    }

    @Test func `an arrival within a pause after the latest or an hour before it goes on, and a microsecond farther waits`() {
        let day = time(age: 86_400, start: 5)
        #expect(finding(day, 5 + 6 * Self.hour) == .goesOn && finding(day, 6 + 6 * Self.hour) == .waits)
        #expect(finding(day, 5 - Self.hour) == .goesOn && finding(day, 4 - Self.hour) == .waits)
        var back = day
        _ = back.see(5 - Self.hour)
        #expect(back.time == 5 && !back.isElsewhere, "it does not go back")
        _ = back.see(7)
        #expect(back.time == 7)
        // At the ends of what a clock can show nothing overflows.
        #expect(finding(time(age: .max, start: .max), .max) == .goesOn && finding(time(age: .max, start: .min), .min) == .goesOn)
        #expect(finding(time(age: .max, start: .max), .min) == .waits && finding(time(age: .max, start: .min), .max) == .waits)
    }

    @Test func `another time is accepted once the log has gone on there for the proof, and not before`() {
        let start = 1_000 * Self.hour
        for (elsewhere, isAhead) in [(start + 500 * Self.hour, true), (start - 500 * Self.hour, false)] {
            var time = time(age: 86_400, start: start)
            #expect(time.see(elsewhere) == .waits && time.isElsewhere)
            for visit in 1...2 as ClosedRange<Int64> { #expect(time.see(elsewhere + visit * 3 * Self.hour) == .waits) }
            #expect(time.see(elsewhere + 24 * Self.hour - 1) == .waits && time.time == start)
            // A mistake of a while, after which it goes on as before.
            var again = time
            #expect(again.see(start + 1) == .goesOn && !again.isElsewhere && again.time == start + 1)
            #expect(again.see(elsewhere + 24 * Self.hour) == .waits, "what was seen of the other time is forgotten")
            #expect(time.see(elsewhere + 24 * Self.hour) == .moved && !time.isElsewhere)
            // Forward, time has passed in between; backward, none that is known.
            #expect(time.time == (isAhead ? elsewhere + 24 * Self.hour : start + 24 * Self.hour))
            #expect(time.inForce(elsewhere) == (isAhead ? elsewhere : start))
            #expect(time.see(elsewhere + 25 * Self.hour) == .goesOn)
            #expect(time.time == (isAhead ? elsewhere + 25 * Self.hour : start + 25 * Self.hour))
        }
    }

    @Test
    func `single arrivals of a clock that jumps about prove no time: it takes four, each an eighth of the proof after another`() {
        let start = 1_000 * Self.hour
        let place = start + 500 * Self.hour
        var time = time(age: 86_400, start: start)
        for arrival in [place, place + 24 * Self.hour, place + 24 * Self.hour + 1, place + 27 * Self.hour - 1] {
            #expect(time.see(arrival) == .waits)
        }
        #expect(time.see(place + 27 * Self.hour) == .waits && time.see(place + 30 * Self.hour - 1) == .waits)
        #expect(finding(time, start + 1) == .goesOn)
        #expect(time.see(place + 30 * Self.hour) == .moved && time.time == place + 30 * Self.hour)
    }

    @Test func `another time goes on from an hour before its first arrival to twice the proof after its last`() {
        let start = 1_000 * Self.hour
        let place = start + 500 * Self.hour
        var time = time(age: 86_400, start: start)
        _ = time.see(place)
        for visit in 1...2 as ClosedRange<Int64> { _ = time.see(place + visit * 3 * Self.hour) }
        _ = time.see(place + 7 * Self.hour)
        // Beyond, it is a third time: the proof begins again there.
        #expect(finding(time, place + 55 * Self.hour) == .moved && finding(time, place + 55 * Self.hour + 1) == .waits)
        var before = time
        #expect(before.see(place - Self.hour) == .waits && before.see(place + 24 * Self.hour) == .moved)
        before = time
        #expect(before.see(place - Self.hour - 1) == .waits)
        for visit in 1...2 as ClosedRange<Int64> { #expect(before.see(place + visit * 3 * Self.hour) == .waits) }
        #expect(before.see(place + 23 * Self.hour - 2) == .waits)
        #expect(before.see(place + 23 * Self.hour - 1) == .moved)
        // An arrival before the first one there, or between the two, makes neither of them earlier or later.
        for arrival in [place - Self.hour, place + 1, place + 7 * Self.hour - 1] {
            var between = time
            #expect(between.see(arrival) == .waits)
            #expect(finding(between, place + 55 * Self.hour) == .moved && finding(between, place + 55 * Self.hour + 1) == .waits)
            #expect(finding(between, place + 24 * Self.hour) == .moved && finding(between, place + 24 * Self.hour - 1) == .waits)
        }
    }

    @Test func `a jump that was measured is corrected at once, in both directions, and sixteen are remembered`() {
        let start = 1_000 * Self.hour
        var time = time(age: 86_400, start: start)
        time.jump(by: 500 * Self.hour)
        #expect(time.see(start + 500 * Self.hour + 1) == .goesOn && time.time == start + 1)
        #expect(time.inForce(start + 500 * Self.hour + 7) == start + 7)
        time.jump(by: -500 * Self.hour)
        #expect(time.see(start + 2) == .goesOn && time.time == start + 2)
        time.jump(by: -200 * Self.hour)
        #expect(time.see(start - 200 * Self.hour + 3) == .goesOn && time.time == start + 3)
        // A jump that would overflow is ignored.
        time.jump(by: .min)
        #expect(time.see(start - 200 * Self.hour + 4) == .goesOn)

        var many = self.time(age: 86_400, start: start)
        for number in 1...16 as ClosedRange<Int64> { many.jump(by: number * 100 * Self.hour) }
        #expect(finding(many, start + 1_600 * Self.hour) == .goesOn && finding(many, start + 200 * Self.hour) == .goesOn)
        #expect(finding(many, start + 100 * Self.hour) == .waits, "the oldest has made room")
        #expect(finding(many, start) == .goesOn, "the first clock is never forgotten")
        many.jump(by: 1_600 * Self.hour)
        #expect(finding(many, start + 200 * Self.hour) == .goesOn, "the same jump takes no room")
        for number in 1...14 as ClosedRange<Int64> {
            #expect(finding(many, start + (number + 2) * 100 * Self.hour) == .goesOn, "\(number)")
        }
    }

    @Test func `64 leaps ahead are remembered, and a clock that shows what followed one goes on from there`() {
        for (leaps, isRemembered) in [(64, true), (65, false)] as [(Int64, Bool)] {
            let start = 1_000 * Self.hour
            var time = time(age: 0, start: start)
            func settle(_ place: Int64) {
                for visit in 0...8 as ClosedRange<Int64> { _ = time.see(place + visit * Self.hour / 8) }
            }
            for leap in 1...leaps { settle(start + leap * 100 * Self.hour) }
            #expect(time.time == start + leaps * 100 * Self.hour + Self.hour)
            settle(start + 50 * Self.hour)
            // Without the first leap nothing is known of how much time has passed, and the latest time goes on.
            let ahead = isRemembered ? start + 51 * Self.hour : start + leaps * 100 * Self.hour + 2 * Self.hour
            #expect(time.time == ahead, "\(leaps)")
        }
    }

    @Test func `sums and differences stay within what a clock can show`() {
        for (left, right) in [
            (Int64.max, 1), (.max, 0), (.min, -1), (.min, 0), (0, .max), (0, .min), (1, .max), (-1, .min), (5, -7),
        ] as [(Int64, Int64)] {
            let sum = Double(left) + Double(right)
            #expect(
                LogTime.sum(left, right)
                    == (left.addingReportingOverflow(right).overflow ? (sum < 0 ? .min : .max) : left + right))
            let (difference, overflows) = left.subtractingReportingOverflow(right)
            #expect(LogTime.difference(left, right) == (overflows ? (right < 0 ? .max : .min) : difference))
        }
        #expect(
            LogTime.difference(0, .min) == .max && LogTime.difference(-2, .max) == .min && LogTime.difference(1, .min) == .max)
    }
}
