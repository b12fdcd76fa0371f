import EventLog
import LMDB
public import TestKit
import Testing

@testable public import Projections

extension VirtualClock: LedgerClock {}

struct Debounce {
    private func commits(_ projector: Projector<LastValues>) async -> Int {
        await projector.statistics().commits.values.reduce(0, +)
    }

    @Test func `M4: packets at 0, 0.2 and 0.4 s give exactly one commit at 2.4 s`() async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let store = try openStore(folder.path + "/view")
        let projector = try Projector(LastValues(), store: store, clock: clock)
        for (index, milliseconds) in [0, 200, 400].enumerated() {
            clock.advance(to: .milliseconds(milliseconds))
            try await projector.fold(LastValues.Batch(first: UInt64(index + 1), [(1, UInt64(index))]), isCatchingUp: false)
        }
        clock.advance(to: .milliseconds(2_399))
        try await eventually { clock.sleeperCount == 1 }
        #expect(await commits(projector) == 0)
        #expect(try LastValues.rows(store).isEmpty)
        clock.advance(to: .milliseconds(2_400))
        try await eventually { await commits(projector) == 1 }
        #expect(try LastValues.rows(store) == [1: 2])
        #expect(await projector.statistics().commits == [.quiet: 1])
        clock.advance(to: .seconds(60))
        for _ in 0..<100 { await Task.yield() }
        #expect(await commits(projector) == 1)
    }

    @Test func `packets every 1.9 s never leave one unflushed for more than 5 s`() {
        var schedule = FlushSchedule(policy: FlushPolicy())
        var unflushed: [Duration] = []
        for step in 0...60_000 {
            let now = Duration.milliseconds(step)
            if let due = schedule.due, due.time <= now {
                for time in unflushed { #expect(now - time <= .seconds(5)) }
                unflushed.removeAll()
                schedule.flushed(at: now)
            }
            if step % 1_900 == 0 {
                schedule.changed(.debounced, at: now)
                unflushed.append(now)
            }
        }
        #expect(unflushed.count <= 3)
    }

    @Test func `M5: of packets every 1.9 s for a minute each is committed at most 5 s after the first of its commit`()
        async throws
    {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let store = try openStore(folder.path + "/view")
        let projector = try Projector(LastValues(), store: store, clock: clock)
        var (unflushed, count, packets): ([Duration], Int, UInt64) = ([], 0, 0)
        var longest = Duration.zero
        for step in 0...660 {
            let now = Duration.milliseconds(step * 100)
            if clock.advance(to: now) > 0 {
                // What was woken commits, or sleeps on.
                try await eventually {
                    let made = await commits(projector)
                    return made > count || clock.sleeperCount == 1
                }
            }
            let made = await commits(projector)
            #expect(made <= count + 1)
            if made > count {
                longest = max(longest, now - (unflushed.first ?? now))
                #expect(try LastValues.rows(store) == [1: packets])
                (count, unflushed) = (made, [])
            }
            if step % 19 == 0, step <= 600 {
                packets += 1
                try await projector.fold(LastValues.Batch(first: packets, [(1, packets)]), isCatchingUp: false)
                unflushed.append(now)
                try await eventually { clock.sleeperCount == 1 }
            }
        }
        #expect(packets == 32 && unflushed.isEmpty && longest <= .seconds(5) && longest > .seconds(2))
        #expect(await projector.statistics().commits.keys.contains(.ceiling) && count == 11)
    }

    @Test func `a hundred packets a second for ten seconds give at most three commits`() {
        var schedule = FlushSchedule(policy: FlushPolicy())
        var commits = 0
        for step in 0...12_500 {
            let now = Duration.milliseconds(step)
            if let due = schedule.due, due.time <= now {
                commits += 1
                schedule.flushed(at: now)
            }
            if step % 10 == 0 && step < 10_000 { schedule.changed(.debounced, at: now) }
        }
        #expect((1...3).contains(commits))
        #expect(schedule.due == nil)
    }

    @Test func `M3: immediate changes are committed with their batch, at most once in 10 ms`() async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let store = try openStore(folder.path + "/view")
        let projector = try Projector(LastValues(urgency: .immediate), store: store, clock: clock)
        clock.advance(to: .seconds(1))
        try await projector.fold(LastValues.Batch(first: 1, [(1, 1)]), isCatchingUp: false)
        #expect(try LastValues.rows(store) == [1: 1])
        clock.advance(to: .milliseconds(1_005))
        try await projector.fold(LastValues.Batch(first: 2, [(1, 2)]), isCatchingUp: false)
        #expect(try LastValues.rows(store) == [1: 1])
        clock.advance(to: .milliseconds(1_010))
        try await eventually { await commits(projector) == 2 }
        #expect(try LastValues.rows(store) == [1: 2])
    }

    @Test func `M3: an immediate change does not wait for the timer of an earlier debounced one`() async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let store = try openStore(folder.path + "/view")
        let projector = try Projector(LastValues(), store: store, clock: clock)
        func fold(_ sequence: UInt64, at milliseconds: Int, _ urgency: Urgency) async throws {
            clock.advance(to: .milliseconds(milliseconds))
            try await projector.fold(LastValues.Batch(first: sequence, [(1, sequence)], urgency), isCatchingUp: false)
        }
        try await fold(1, at: 1_000, .debounced)
        try await eventually { clock.sleepers == [.milliseconds(3_000)] }
        try await fold(2, at: 1_500, .immediate)
        #expect(await projector.statistics().commits == [.immediate: 1])
        // Within 10 ms of that commit, while the timer of the first change is still armed.
        try await fold(3, at: 1_505, .immediate)
        try await eventually { clock.sleepers == [.milliseconds(1_510)] }
        clock.advance(to: .milliseconds(1_509))
        for _ in 0..<100 { await Task.yield() }
        #expect(try LastValues.rows(store) == [1: 2])
        clock.advance(to: .milliseconds(1_510))
        try await eventually { await commits(projector) == 2 }
        #expect(try LastValues.rows(store) == [1: 3])
        #expect(await projector.statistics().commits == [.immediate: 2])
    }

    @Test func `M8 S20: a timed commit that fails is tried again after the ceiling, until it is on disk`() async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let store = try openStore(folder.path + "/view", sizeLimit: 300_000)
        let projector = try Projector(LastValues(), store: store, clock: clock)
        let values = (0..<20_000).map { (key: UInt32($0), value: UInt64($0)) }
        try await projector.fold(LastValues.Batch(first: 1, values), isCatchingUp: false)
        // The two seconds of quiet, then every five seconds.
        for seconds in [2, 7, 12] {
            try await eventually { clock.sleepers == [.seconds(seconds)] }
            clock.advance(to: .seconds(seconds) - .milliseconds(1))
            for _ in 0..<100 { await Task.yield() }
            #expect(clock.sleepers == [.seconds(seconds)])
            clock.advance(to: .seconds(seconds))
            try await eventually { clock.sleepers == [.seconds(seconds + 5)] }
            #expect(await commits(projector) == 0)
            #expect(try store.checkpoint() == .start)
            #expect(await projector.statistics().lastError != nil)
        }
        try store.environment.setSizeLimit(10_000_000)
        clock.advance(to: .milliseconds(16_999))
        for _ in 0..<100 { await Task.yield() }
        #expect(await commits(projector) == 0)
        clock.advance(to: .seconds(17))
        try await eventually { await commits(projector) == 1 }
        #expect(try LastValues.rows(store).count == 20_000)
        #expect(await projector.statistics().lastError == nil)
        #expect(clock.sleepers.isEmpty)
    }

    @Test func `M3 M4 M5: a flush is due exactly then, at the meeting of its periods and beside it`() {
        func due(_ changes: [(Int, Urgency)], flushed: Int? = nil) -> String {
            var schedule = FlushSchedule(policy: FlushPolicy())
            if let flushed { schedule.flushed(at: .milliseconds(flushed)) }
            for (time, urgency) in changes { schedule.changed(urgency, at: .milliseconds(time)) }
            return schedule.due.map { "\($0.reason) \($0.time / .milliseconds(1))" } ?? "none"
        }
        #expect(due([(0, .debounced), (2_999, .debounced)]) == "quiet 4999.0")
        #expect(due([(0, .debounced), (3_000, .debounced)]) == "quiet 5000.0")
        #expect(due([(0, .debounced), (3_001, .debounced)]) == "ceiling 5000.0")
        #expect(due([(0, .debounced), (3_001, .none)]) == "quiet 2000.0")
        #expect(due([(10_009, .immediate)], flushed: 10_000) == "immediate 10010.0")
        #expect(due([(10_010, .immediate)], flushed: 10_000) == "immediate 10010.0")
        #expect(due([(10_011, .immediate)], flushed: 10_000) == "immediate 10011.0")
        #expect(due([(7, .immediate)]) == "immediate 7.0")
        #expect(due([(10_001, .debounced), (10_005, .immediate), (10_009, .debounced)], flushed: 10_000) == "immediate 10010.0")
        #expect(due([], flushed: 10_000) == "none")
    }

    @Test func `M2: events without a row of the view do not make it commit`() async throws {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        let store = try openStore(folder.path + "/view")
        let projector = try Projector(LastValues(urgency: .none), store: store, clock: clock)
        for (sequence, time) in [(1, 0), (2, 100), (3, 200)] as [(UInt64, Int)] {
            clock.advance(to: .seconds(time))
            try await projector.fold(LastValues.Batch(first: sequence, [(1, 1)]), isCatchingUp: false)
        }
        #expect(await commits(projector) == 0)
        try await projector.flush(.request)
        #expect(try store.checkpoint() == Checkpoint(sequence: 3, checksum: 93))
    }
}
