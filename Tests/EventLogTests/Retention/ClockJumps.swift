import Glibc
import LogKit
import Synchronization
import TestKit
import Testing

@testable import EventLog

/// Clocks that jump beside one that nobody sets.
struct ClockJumps {
    private static let day: Int64 = 86_400
    private static let start = Timestamp(seconds: 1_780_000_000)

    /// A log with both clocks.
    private struct Lab {
        let folder: TemporaryFolder
        let log: EventLog
        let clock: ManualClock
        let steady: ManualClock
        private let hasSteady: Bool

        init(hasSteady: Bool = true, start: Timestamp = ClockJumps.start) throws {
            folder = try TemporaryFolder()
            clock = ManualClock(start)
            steady = ManualClock(Timestamp(seconds: 1_000))
            self.hasSteady = hasSteady
            log = try EventLog.create(at: folder.path + "/log", options: Self.options(clock, hasSteady ? steady : nil))
        }

        static func options(_ clock: ManualClock, _ steady: ManualClock?) -> EventLogOptions {
            var options = EventLogOptions(isDurable: false, clock: clock.read)
            if let steady { options.steadyClock = { steady.read().microseconds } }
            options.lookInterval = .seconds(3_600)  // the tests look themselves
            return options
        }

        func pass(seconds: Int64) {
            clock.advance(seconds: seconds)
            steady.advance(seconds: seconds)
        }

        /// Events at equal distances; the clock goes on after each.
        func add(_ count: Int, tiles: Int = 0, every seconds: Int64) async throws {
            for _ in 0..<count {
                try await log.noteClock()
                try await log.append(
                    [NewEvent](repeating: NewEvent([1], encoding: .note, source: .log), count: max(1, tiles * 256)))
                pass(seconds: seconds)
            }
        }

        func outlook(days: Int64 = 90) throws -> RetentionOutlook {
            try log.retentionOutlook(olderThan: days * ClockJumps.day, largerThan: nil, now: clock.read())
        }
    }

    @Test(arguments: [true, false]) func `a clock that is ahead for a while makes no event old`(isSteady: Bool) async throws {
        let lab = try Lab(hasSteady: isSteady)
        try await lab.add(20, tiles: 1, every: Self.day / 2)
        lab.clock.advance(seconds: 200 * Self.day)
        try await lab.add(3, every: 15)
        let ahead = try lab.outlook()
        #expect(ahead.plan == nil && ahead.byClock != nil && ahead.isHeldBack)
        #expect(try lab.log.retentionPlan(olderThan: lab.clock.read().adding(seconds: -90 * Self.day), largerThan: nil) != nil)
        lab.clock.advance(seconds: -200 * Self.day)
        try await lab.add(3, every: 15)
        #expect(try lab.outlook().plan == nil && !lab.outlook().isHeldBack)
        // What is really old goes, also what arrived while the clock was ahead.
        try await lab.add(240, every: Self.day / 2)
        try await lab.add(1, tiles: 1, every: 1)
        let plan = try #require(try lab.outlook().plan)
        #expect(plan.last.rawValue >= 20 * 256)
        let old = try #require(try lab.log.event(plan.last.advanced(by: -256)))
        #expect(old.header.arrivalTime < lab.clock.read().adding(seconds: -89 * Self.day))
        #expect(try lab.log.verify().isIntact)
        await lab.log.close()
    }

    @Test func `the steady clock is the system's, which goes on while the machine sleeps, in microseconds`() {
        func systemTime() -> Int64 {
            var time = timespec()
            unsafe clock_gettime(CLOCK_BOOTTIME, &time)
            return (Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)) / 1_000
        }
        for _ in 0..<100 {
            let (before, found, after) = (systemTime(), ClockWatch.systemSteadyTime(), systemTime())
            #expect(before <= found && found <= after)
        }
    }

    @Test func `a clock that nobody had set makes no event old when it is set`() async throws {
        let lab = try Lab(start: Timestamp(seconds: 100))
        try await lab.add(12, tiles: 1, every: Self.day / 4)
        lab.clock.set(Self.start)
        try await lab.add(2, every: 60)
        let outlook = try lab.outlook(days: 10)
        #expect(outlook.plan == nil && outlook.isHeldBack)
        try await lab.add(20, tiles: 1, every: Self.day / 2)
        // They are as old as what followed when the clock was right.
        #expect(try lab.outlook(days: 10).plan == nil)
        try await lab.add(1, tiles: 1, every: Self.day / 2)
        #expect(try lab.outlook(days: 10).plan?.last == EventSequence(13 * 256))
        await lab.log.close()
    }

    @Test func `after a jump that was measured, ages go on at once`() async throws {
        let lab = try Lab()
        try await lab.add(20, tiles: 1, every: Self.day / 2)
        lab.clock.advance(seconds: 200 * Self.day)
        try await lab.add(8, tiles: 1, every: Self.day / 2)
        #expect(try lab.log.ages(olderThan: 12 * Self.day + Self.day / 4, now: lab.clock.read()).lastOld == 4 * 256)
        await lab.log.close()
    }

    @Test func `a clock that starts in 1970 beside a log of today, and is right after a restart, makes no event old`()
        async throws
    {
        let lab = try Lab(hasSteady: false)
        try await lab.add(2, tiles: 1, every: Self.day / 2)
        lab.clock.set(Timestamp(seconds: 1_000))
        try await lab.add(18, tiles: 1, every: Self.day / 2)
        lab.clock.set(Self.start.adding(seconds: 10 * Self.day))
        try await lab.add(40, tiles: 1, every: Self.day / 2)
        // The first events are 30 days old; those of the unset clock are no older than the first with the right time.
        #expect(try lab.outlook(days: 31).plan == nil)
        #expect(try lab.log.ages(olderThan: 20 * Self.day + 1, now: lab.clock.read()).lastOld <= 2 * 256)
        #expect(try lab.log.ages(olderThan: 12 * Self.day, now: lab.clock.read()).lastOld >= 20 * 256)
        await lab.log.close()
    }

    @Test func `two usual pauses, the second within 256 events, are no jump`() async throws {
        let lab = try Lab(hasSteady: false)
        // The longest usual pause is 36 hours.
        for (count, pause) in [(256, 36), (128, 36), (128, 0)] as [(Int, Int64)] {
            try await lab.log.append([NewEvent](repeating: NewEvent([1], encoding: .note, source: .log), count: count))
            lab.pass(seconds: pause * 3_600)
        }
        #expect(try lab.outlook().logTime == lab.clock.read())
        await lab.log.close()
    }

    @Test func `a pause of months is believed when the log has gone on for a week`() async throws {
        let lab = try Lab(hasSteady: false)
        try await lab.add(8, tiles: 1, every: Self.day / 2)
        lab.pass(seconds: 200 * Self.day)
        #expect(try lab.outlook().plan == nil)
        #expect(try lab.outlook().isHeldBack)
        try await lab.add(12, every: Self.day / 2)
        #expect(try lab.outlook().plan == nil)
        try await lab.add(4, every: Self.day / 2)
        #expect(try lab.outlook().plan?.last == EventSequence(8 * 256))
        #expect(try lab.outlook().byClock == nil)
        await lab.log.close()
    }

    @Test(arguments: [true, false])
    func `once another time is accepted, what arrived there before that is as old as it is`(isInFirstTile: Bool) async throws {
        let lab = try Lab(hasSteady: false, start: isInFirstTile ? Timestamp(seconds: 100) : Self.start)
        try await lab.add(isInFirstTile ? 1 : 8, tiles: isInFirstTile ? 0 : 1, every: Self.day / 2)
        let before: UInt64 = isInFirstTile ? 0 : 8
        lab.clock.set(Self.start.adding(seconds: 200 * Self.day))
        if isInFirstTile {
            try await lab.log.append([NewEvent](repeating: NewEvent([1], encoding: .note, source: .log), count: 255))
        }
        if isInFirstTile { lab.pass(seconds: Self.day / 2) }
        try await lab.add(isInFirstTile ? 15 : 16, tiles: 1, every: Self.day / 2)
        // 16 tiles at the other time, half a day apart; the last one is half a day old.
        for age in 6...14 as ClosedRange<Int64> {
            for (seconds, isOlder) in [(age * Self.day / 2, false), (age * Self.day / 2 - 1, true)] {
                let old = before + UInt64(16 - age) + (isOlder ? 1 : 0)
                let ages = try lab.log.ages(olderThan: seconds, now: lab.clock.read())
                #expect(ages.lastOld == old * 256 && ages.time == lab.clock.read(), "\(seconds) s")
            }
        }
        await lab.log.close()
    }

    @Test func `a time that was shown only once makes nothing after it young when a third one is accepted`() async throws {
        let lab = try Lab(hasSteady: false)
        try await lab.add(8, tiles: 1, every: Self.day / 2)
        lab.clock.set(Self.start.adding(seconds: 1_000 * Self.day))
        try await lab.add(1, tiles: 1, every: Self.day / 2)
        lab.clock.set(Self.start.adding(seconds: 200 * Self.day))
        try await lab.add(24, tiles: 1, every: Self.day / 2)
        // Of the 24 tiles half a day apart, the last of which is half a day old.
        #expect(try lab.log.ages(olderThan: 5 * Self.day, now: lab.clock.read()).lastOld == (9 + 14) * 256)
        #expect(try lab.log.ages(olderThan: 5 * Self.day - 1, now: lab.clock.read()).lastOld == (9 + 15) * 256)
        await lab.log.close()
    }

    @Test func `arrivals that go back a little while another time is not accepted make nothing before them old`() async throws {
        let lab = try Lab(hasSteady: false)
        try await lab.add(8, tiles: 1, every: Self.day / 2)
        // Back for good: from here on, time goes on from the eighth tile's.
        lab.clock.advance(seconds: -1_000 * Self.day)
        let back = lab.clock.read()
        try await lab.add(1, tiles: 1, every: -3_000)
        try await lab.add(1, tiles: 1, every: 600)
        try await lab.add(1, tiles: 1, every: Self.day / 2)
        for count in 1...24 as ClosedRange<Int64> {
            lab.clock.set(back.adding(seconds: count * Self.day / 2))
            try await lab.add(1, tiles: 1, every: 0)
            guard count >= 14 else { continue }
            // Half an hour before the eighth tile arrived.
            let ages = try lab.log.ages(olderThan: count * Self.day / 2 + 1_500, now: lab.clock.read())
            #expect(ages.lastOld == 7 * 256, "\(count)")
            let exact = try lab.log.ages(olderThan: count * Self.day / 2 - 1, now: lab.clock.read())
            #expect(exact.lastOld == 11 * 256, "\(count)")
        }
        await lab.log.close()
    }

    @Test func `a clock that goes back for good does not stop ages for ever`() async throws {
        let lab = try Lab(hasSteady: false)
        try await lab.add(8, tiles: 1, every: Self.day / 2)
        lab.clock.advance(seconds: -1_000 * Self.day)
        try await lab.add(30, tiles: 1, every: Self.day / 2)
        #expect(try lab.outlook(days: 10).plan?.last ?? .zero >= EventSequence(8 * 256))
        #expect(try lab.outlook(days: 100).plan == nil)
        #expect(try lab.log.ages(olderThan: .max, now: lab.clock.read()).lastOld == 0, "no age is so high")
        await lab.log.close()
    }

    @Test func `a clock that was ahead for weeks, and is right again, makes nothing before that older`() async throws {
        let lab = try Lab(hasSteady: false)
        try await lab.add(8, tiles: 1, every: 600)
        let right = lab.clock.read()
        lab.clock.advance(seconds: 200 * Self.day)
        try await lab.add(20, tiles: 1, every: Self.day / 2)
        #expect(try lab.log.ages(olderThan: 90 * Self.day, now: lab.clock.read()).lastOld == 8 * 256)
        lab.clock.set(right)
        for count in 0...9 as ClosedRange<Int64> {
            lab.clock.set(right.adding(seconds: count * Self.day))
            let ages = try lab.log.ages(olderThan: 90 * Self.day, now: lab.clock.read())
            #expect(ages.lastOld == 0 && ages.time == lab.clock.read(), "\(count)")
            try await lab.add(1, tiles: 1, every: 0)
        }
        // Accepted after a week at the right time, when what arrived while the clock was ahead begins to age.
        let now = lab.clock.read()
        #expect(try lab.log.ages(olderThan: 10 * Self.day, now: now).lastOld == 0)
        #expect(try lab.log.ages(olderThan: 8 * Self.day, now: now).lastOld == 8 * 256)
        #expect(try lab.log.ages(olderThan: Self.day, now: now).lastOld >= 28 * 256)
        await lab.log.close()
    }

    @Test func `a jump is an event, of which the log tells`() async throws {
        let lab = try Lab()
        try await lab.add(1, every: 60)
        lab.clock.advance(seconds: 119)
        try await lab.log.noteClock()
        #expect(lab.log.head == EventSequence(1), "clocks are corrected all the time")
        lab.clock.advance(seconds: -7_200)
        let expected = lab.clock.read().adding(seconds: 7_200 - 119)
        try await lab.log.noteClock()
        try await lab.log.noteClock()
        let jump = try #require(try lab.log.clockJumps().first)
        #expect(try lab.log.clockJumps().count == 1 && jump.event == EventSequence(2))
        #expect(jump.jump == ClockJump(expected: expected, found: lab.clock.read(), basis: .steadyClock))
        let read = ClockJump(payload: jump.jump.payload.span.rawBytes)
        #expect(read == jump.jump)
        #expect(jump.jump.distance == -7_081_000_000)
        await #expect(throws: EventLogError.self) {
            try await lab.log.append(NewEvent(jump.jump.payload, encoding: .clockJump, source: .log))
        }
        _ = try await lab.log.compact()
        #expect(try lab.log.clockJumps().map(\.event) == [EventSequence(2)])
        #expect(try lab.log.verify().isIntact)
        await lab.log.close()

        lab.clock.advance(seconds: -1_000_000)
        let again = try EventLog.open(at: lab.folder.path + "/log", options: Lab.options(lab.clock, lab.steady))
        try await again.flush()
        let back = try #require(try again.clockJumps().last)
        #expect(back.event == EventSequence(3) && back.jump.basis == .lastEvent && back.jump.found == lab.clock.read())
        #expect(try back.jump.expected == again.event(EventSequence(2))?.header.arrivalTime)
        await again.close()
    }

    @Test func `a log of one event has its time, whatever the clock shows now`() async throws {
        let lab = try Lab(hasSteady: false)
        #expect(try lab.log.ages(olderThan: Self.day, now: lab.clock.read()).time == Self.start, "without one, the clock's")
        try await lab.add(1, every: 200 * Self.day)
        let ages = try lab.log.ages(olderThan: Self.day, now: lab.clock.read())
        #expect(ages.time == Self.start && ages.lastOld == 0)
        #expect(try lab.log.ages(olderThan: Self.day, now: Self.start.adding(seconds: 60)).time == Self.start.adding(seconds: 60))
        await lab.log.close()
    }

    @Test func `a jump is of two minutes or more in either direction, and is reported once unless it could not be stored`() {
        let (clock, steady) = (ManualClock(Self.start), ManualClock(Timestamp(seconds: 1_000)))
        let watch = ClockWatch(clock.read) { steady.read().microseconds }
        let (least, start) = (ClockJump.leastDistance, Self.start.microseconds)
        #expect(least == 120_000_000 && watch.look() == nil)
        for direction in [1, -1] as [Int64] {
            clock.set(Timestamp(microseconds: start + direction * (least - 1)))
            #expect(watch.look() == nil)
            let found = Timestamp(microseconds: start + direction * least)
            clock.set(found)
            let jump = ClockJump(expected: Self.start, found: found, basis: .steadyClock)
            #expect(watch.look() == jump && watch.look() == nil)
            watch.forget(jump)
            #expect(watch.look() == jump && watch.look() == nil)
            clock.set(Self.start)
            #expect(watch.look()?.distance == -direction * least)
        }
        clock.advance(seconds: 1_000)
        steady.advance(seconds: 1_000)
        #expect(watch.look() == nil, "time has passed")
        // Differences that overflow are no jumps.
        clock.set(Timestamp(microseconds: .min))
        #expect(watch.look() == nil)
    }

    @Test func `bytes that are no jump are none`() {
        for bytes: [UInt8] in [[], [0xff], [8, 1], [8, 1, 16, 2, 24, 9]] {
            let jump = ClockJump(payload: bytes.span.rawBytes)
            #expect(jump == nil)
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `events of a time are those that arrived then, whatever the clock did`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let lab = try Lab(hasSteady: false)
        var arrivals: [Timestamp] = []
        for _ in 0..<Int.random(in: 900...1_500, using: &generator) {
            let jump = Int64.random(in: 0..<100, using: &generator) == 0 ? Int64.random(in: -9_000..<9_000, using: &generator) : 0
            lab.clock.advance(seconds: jump + Int64.random(in: 0..<30, using: &generator))
            arrivals.append(lab.clock.read())
            try await lab.log.append(NewEvent([1], encoding: .note, source: .log))
        }
        try await lab.log.cut(through: EventSequence(256))
        arrivals.append(lab.clock.read())
        for _ in 0..<200 {
            let times = (0..<2).map { _ in Self.start.adding(seconds: Int64.random(in: -9_000..<40_000, using: &generator)) }
                .sorted()
            let start = Int.random(in: 0..<4, using: &generator) == 0 ? nil : times[0]
            let end = Int.random(in: 0..<4, using: &generator) == 0 ? nil : times[1]
            let found = try lab.log.runs(arrivedFrom: start, before: end)
            let wanted = arrivals.indices.filter { place in
                place >= 256 && start.map { arrivals[place] >= $0 } ?? true && end.map { arrivals[place] < $0 } ?? true
            }
            #expect(found.flatMap { run in run.map { Int($0.rawValue) - 1 } } == wanted, "seed \(seed), \(times)")
            #expect(zip(found, found.dropFirst()).allSatisfy { $0.upperBound.rawValue + 1 < $1.lowerBound.rawValue })
        }
        await lab.log.close()
    }
}
