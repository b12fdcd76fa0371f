import Foundation
import LogKit
import TestKit
import Testing

@testable import EventLog

/// A log that is cut now and then, against an array that forgets its first elements.
struct RetentionModel {
    private struct Model {
        var events: [(NewEvent, Timestamp)] = []
        var cut = 0
        /// The roots over the first events, as the log reported them when these were there.
        var roots: [Int: [UInt8]] = [:]
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `a log that is cut at any time reads like an array without its first elements`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        var options = EventLogOptions(clock: clock.read)
        options.sealing = SealingPolicy(hotEvents: Int.random(in: 0...900, using: &generator), isAutomatic: seed % 2 == 0)
        var log = try EventLog.create(at: path, options: options)
        var model = Model()
        for _ in 0..<30 {
            clock.advance(seconds: Int64.random(in: -10..<1000, using: &generator))
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let events = (0..<Int.random(in: 0..<1500, using: &generator)).map { _ in randomEvent(&generator) }
                try await log.append(events)
                model.events += events.map { ($0, clock.read()) }
            case 5: try await log.seal()
            case 6, 7:
                let (lowest, highest) = (model.cut / 256 + 1, model.events.count / 256)
                guard lowest <= highest else { continue }
                try await cut(log, through: 256 * Int.random(in: lowest...highest, using: &generator), &model, clock)
            default:
                await log.close()
                log = try EventLog.open(at: path, options: options)
            }
            if !model.events.isEmpty { model.roots[model.events.count] = try log.root(size: log.head) }
            try expect(model, log, &generator, "seed \(seed)")
        }
        let result = try log.verify()
        #expect(result.isIntact && result.eventsChecked == model.events.count - model.cut, "seed \(seed), \(result.problems)")
        #expect(result.eventsDropped == UInt64(model.cut))
        for (size, root) in model.roots where size >= model.cut || size % 256 == 0 {
            #expect(try log.root(size: EventSequence(UInt64(size))) == root, "seed \(seed), size \(size)")
        }
        await log.close()
        _ = try await EventLog.compact(at: path)
        log = try EventLog.open(at: path, options: options)
        try expect(model, log, &generator, "seed \(seed), compacted")
        #expect(try log.verify().isIntact)
        await log.close()
    }

    private func cut(_ log: EventLog, through last: Int, _ model: inout Model, _ clock: ManualClock) async throws {
        let (event, retention) = try await log.cut(through: EventSequence(UInt64(last)))
        #expect(retention.count == UInt64(last - model.cut) && retention.first == EventSequence(UInt64(last + 1)))
        let times = model.events[model.cut..<last].map(\.1)
        #expect(retention.firstArrival == times.min() && retention.lastArrival == times.max())
        #expect(event.rawValue == UInt64(model.events.count + 1))
        model.events.append((NewEvent(retention.payload, encoding: .retention, source: .log), clock.read()))
        model.cut = last
    }

    private func randomEvent(_ generator: inout SeededGenerator) -> NewEvent {
        let isLarge = Int.random(in: 0..<300, using: &generator) == 0
        return NewEvent(
            generator.bytes(Int.random(in: 0..<(isLarge ? 150_000 : 200), using: &generator)), encoding: .note,
            source: SourceID(rawValue: UInt32.random(in: 0...3, using: &generator)))
    }

    private func expect(_ model: Model, _ log: EventLog, _ generator: inout SeededGenerator, _ note: Comment) throws {
        #expect(log.head.rawValue == UInt64(model.events.count), note)
        #expect(log.first.rawValue == UInt64(model.cut + 1), note)
        guard model.events.count > model.cut else { return }
        let first = Int.random(in: 0..<model.events.count, using: &generator)
        let last = min(first + 900, model.events.count - 1)
        let isReversed = Bool.random(using: &generator)
        let wanted = Array(max(first, model.cut)..<max(model.cut, last + 1))
        let range = EventSequence(UInt64(first + 1))...EventSequence(UInt64(last + 1))
        let events = try log.events(in: range, reversed: isReversed)
        #expect(events.map { Int($0.sequence.rawValue) - 1 } == (isReversed ? wanted.reversed() : wanted), note)
        for event in events {
            let (expected, time) = model.events[Int(event.sequence.rawValue) - 1]
            #expect(event.payload == expected.payload && event.header.arrivalTime == time, note)
        }
        try expectEnds(model, log, note)
        let time = model.events[first].1
        let kept = model.events.indices.dropFirst(model.cut)
        let by = kept.last { model.events[$0].1 <= time }.map { UInt64($0 + 1) } ?? 0
        #expect(try log.lastSequence(arrivedBy: time) == EventSequence(by), note)
        let from = kept.first { model.events[$0].1 >= time }.map { EventSequence(UInt64($0 + 1)) }
        #expect(try log.firstSequence(arrivedFrom: time) == from, note)
        guard first < model.cut else { return }
        let error = #expect(throws: EventLogError.self) { try log.event(EventSequence(UInt64(first + 1))) }
        #expect(error?.code == .beyondRetention)
    }

    /// From nowhere to both ends, and not beyond the first.
    private func expectEnds(_ model: Model, _ log: EventLog, _ note: Comment) throws {
        let reader = try log.beginRead()
        var cursor = try reader.cursor()
        #expect(try cursor.next(), note)
        #expect(cursor.sequence == log.first, note)
        #expect(try !cursor.previous(), note)
        var other = try reader.cursor()
        #expect(try other.previous(), note)
        #expect(other.sequence == log.head, note)
        var count = 1
        while try other.previous() { count += 1 }
        #expect(count == model.events.count - model.cut, note)
    }
}
