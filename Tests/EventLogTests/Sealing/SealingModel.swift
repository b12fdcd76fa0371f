import EventLog
import LogKit
import Synchronization
import TestKit
import Testing

/// A log that is sealed now and then, against an array.
struct SealingModel {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `a log whose events are sealed at any time reads like an array, in every direction`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        var options = EventLogOptions(clock: clock.read)
        options.sealing = SealingPolicy(hotEvents: Int.random(in: 0...900, using: &generator), isAutomatic: seed % 2 == 0)
        options.blockCacheLimit = seed % 3 == 0 ? 0 : 1 << 20
        var log = try EventLog.create(at: path, options: options)
        var model = Model()
        for _ in 0..<30 {
            clock.advance(seconds: Int64.random(in: -10..<1000, using: &generator))
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<6:
                let events = (0..<Int.random(in: 0..<1500, using: &generator)).map { _ in randomEvent(&generator) }
                try await log.append(events)
                model.add(events, at: clock.read())
            case 6, 7:
                try await log.seal()
                #expect(try log.sealingStatistics().sealedEvents == UInt64(model.events.count / 256 * 256), "seed \(seed)")
            default:
                await log.close()
                log = try EventLog.open(at: path, options: options)
            }
            try model.expect(log, &generator, "seed \(seed)")
        }
        let statistics = try log.sealingStatistics()
        #expect(statistics.sealedEvents + statistics.hotEvents == UInt64(model.events.count))
        let result = try log.verify()
        #expect(result.isIntact && result.eventsChecked == model.events.count, "seed \(seed), \(result.problems)")
        await log.close()
    }

    @Test func `readers find every event while others are being sealed`() async throws {
        var generator = SeededGenerator(seed: 11)
        let folder = try TemporaryFolder()
        var options = EventLogOptions()
        options.sealing = SealingPolicy(hotEvents: 100)
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        let isDone = Mutex(false)
        async let appending: Void = {
            defer { isDone.withLock { $0 = true } }
            for _ in 0..<120 { try await appendNumbered(log, 250) }
        }()
        while !isDone.withLock({ $0 }) {
            let head = Int(log.head.rawValue)
            await Task.yield()
            guard head > 0 else { continue }
            let first = Int.random(in: 1...head, using: &generator)
            let last = min(head, first + 2000)
            let isReversed = Bool.random(using: &generator)
            let events = try log.events(in: EventSequence(UInt64(first))...EventSequence(UInt64(last)), reversed: isReversed)
            let numbers = isReversed ? Array((first...last).reversed()) : Array(first...last)
            #expect(events.map(\.sequence.rawValue) == numbers.map { UInt64($0) })
            #expect(events.map(\.payload) == numbers.map(numberedPayload))
        }
        try await appending
        try await log.seal()
        #expect(try log.sealingStatistics().sealedEvents == 30_000 / 256 * 256)
        #expect(try log.verify().isIntact)
        await log.close()
    }

    private func randomEvent(_ generator: inout SeededGenerator) -> NewEvent {
        let isLarge = Int.random(in: 0..<300, using: &generator) == 0
        let reception: Reception =
            [.live, .unrecorded, .recorded(Timestamp(seconds: 1_780_000_000))].randomElement(using: &generator) ?? .live
        return NewEvent(
            generator.bytes(Int.random(in: 0..<(isLarge ? 150_000 : 200), using: &generator)), encoding: .note,
            source: SourceID(rawValue: UInt32.random(in: 0...3, using: &generator)), reception: reception,
            isMasked: Bool.random(using: &generator))
    }
}

/// What the log should answer.
private struct Model {
    var events: [(NewEvent, Timestamp)] = []

    mutating func add(_ new: [NewEvent], at time: Timestamp) { events += new.map { ($0, time) } }

    func expect(_ log: EventLog, _ generator: inout SeededGenerator, _ note: Comment) throws {
        #expect(log.head == EventSequence(UInt64(events.count)), note)
        guard !events.isEmpty else { return }
        try expectRange(log, &generator, note)
        try expectMoves(log, &generator, note)
        let time = events[Int.random(in: 0..<events.count, using: &generator)].1
        let by = events.lastIndex { $0.1 <= time }.map { UInt64($0 + 1) } ?? 0
        #expect(try log.lastSequence(arrivedBy: time) == EventSequence(by), note)
        let from = events.firstIndex { $0.1 >= time }.map { EventSequence(UInt64($0 + 1)) }
        #expect(try log.firstSequence(arrivedFrom: time) == from, note)
    }

    private func expectRange(_ log: EventLog, _ generator: inout SeededGenerator, _ note: Comment) throws {
        let first = Int.random(in: 0..<events.count, using: &generator)
        let last = min(first + 800, events.count - 1)
        var next = first
        try log.withEvents(from: EventSequence(UInt64(first + 1)), count: last - first + 1) { header, payload in
            let bytes = unsafe payload.withUnsafeBytes { unsafe Array($0) }
            let (event, time) = events[next]
            #expect(header.sequence == EventSequence(UInt64(next + 1)), note)
            #expect(bytes == event.payload && header.arrivalTime == time && header.reception == event.reception, note)
            #expect(header.source == event.source && header.isMasked == event.isMasked, note)
            next += 1
            return true
        }
        #expect(next == last + 1, note)
    }

    /// Walks from a random place to and fro, over both ends.
    private func expectMoves(_ log: EventLog, _ generator: inout SeededGenerator, _ note: Comment) throws {
        let reader = try log.beginRead()
        var cursor = try reader.cursor()
        var place = 0  // nowhere
        for _ in 0..<60 {
            let isThere: Bool
            switch Int.random(in: 0..<6, using: &generator) {
            case 0:
                place = Int.random(in: 1...events.count + 2, using: &generator)
                isThere = try cursor.seek(EventSequence(UInt64(place)))
                if place > events.count { place = 0 }
            case 1...3:
                isThere = try move(&cursor, Int.random(in: 1...300, using: &generator), &place, forward: true)
            default:
                isThere = try move(&cursor, Int.random(in: 1...300, using: &generator), &place, forward: false)
            }
            #expect(isThere == (place != 0), note)
            guard place != 0 else { break }
            #expect(cursor.sequence == EventSequence(UInt64(place)), note)
            let payload = unsafe cursor.payload.withUnsafeBytes { unsafe Array($0) }
            #expect(payload == events[place - 1].0.payload && cursor.isIntact, note)
            #expect(cursor.header?.payloadLength == payload.count, note)
        }
    }

    private func move(_ cursor: inout EventCursor, _ steps: Int, _ place: inout Int, forward: Bool) throws -> Bool {
        for _ in 0..<steps {
            let isThere = forward ? try cursor.next() : try cursor.previous()
            if place == 0 { place = forward ? 1 : events.count } else { place += forward ? 1 : -1 }
            if place > events.count { place = 0 }
            guard isThere else { return false }
            if place == 0 { return true }
        }
        return true
    }
}
