import EventLog
import LogKit
import TestKit
import Testing

/// The log against an array that does the same.
struct LogModelTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `a log behaves like an array through reopening`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        let options = EventLogOptions(clock: clock.read)
        var log = try EventLog.create(at: path, options: options)
        var model: [(NewEvent, Timestamp)] = []
        var cursors: [String: [UInt8]] = [:]
        for _ in 0..<60 {
            clock.advance(seconds: Int64.random(in: -10..<1000, using: &generator))
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                let event = randomEvent(&generator)
                #expect(try await log.append(event) == EventSequence(UInt64(model.count + 1)), "seed \(seed)")
                model.append((event, clock.read()))
            case 4..<7:
                let events = (0..<Int.random(in: 0..<400, using: &generator)).map { _ in randomEvent(&generator) }
                let key = "cursor \(Int.random(in: 0..<3, using: &generator))"
                let value = generator.bytes(Int.random(in: 0..<20, using: &generator))
                try await log.append(events, cursor: SourceCursor(key: key, value: value))
                cursors[key] = value
                model += events.map { ($0, clock.read()) }
            case 7:
                var batch = EventBatch()
                for _ in 0..<Int.random(in: 1..<300, using: &generator) {
                    let event = randomEvent(&generator)
                    batch.append(event)
                    model.append((event, clock.read()))
                }
                try await log.append(batch)
            default:
                await log.close()
                log = try EventLog.open(at: path, options: options)
            }
            try expect(log, equals: model, cursors, &generator)
        }
        #expect(try log.verify().isIntact)
        await log.close()
    }

    private func randomEvent(_ generator: inout SeededGenerator) -> NewEvent {
        let isLarge = Int.random(in: 0..<50, using: &generator) == 0
        let time = Timestamp(microseconds: Int64.random(in: .min ... .max, using: &generator))
        let reception: Reception = [.live, .unrecorded, .recorded(time)].randomElement(using: &generator) ?? .live
        return NewEvent(
            generator.bytes(Int.random(in: 0..<(isLarge ? 9000 : 200), using: &generator)),
            encoding: PayloadEncoding(rawValue: UInt8.random(in: 0...255, using: &generator)),
            source: SourceID(rawValue: UInt32.random(in: 0 ... .max, using: &generator)), reception: reception,
            isMasked: Bool.random(using: &generator))
    }

    private func expect(
        _ log: EventLog, equals model: [(NewEvent, Timestamp)], _ cursors: [String: [UInt8]], _ generator: inout SeededGenerator
    ) throws {
        #expect(log.head == EventSequence(UInt64(model.count)))
        for (key, value) in cursors { #expect(try log.cursor(key) == value) }
        guard !model.isEmpty else { return }
        let first = Int.random(in: 0..<model.count, using: &generator)
        let last = min(first + 50, model.count - 1)
        let range = EventSequence(UInt64(first + 1))...EventSequence(UInt64(last + 1))
        let events = try log.events(in: range)
        #expect(events.count == last - first + 1)
        for (event, (expected, arrival)) in zip(events, model[first...last]) {
            #expect(event.payload == expected.payload)
            #expect(event.header.arrivalTime == arrival)
            #expect(event.header.encoding == expected.encoding)
            #expect(event.header.source == expected.source)
            #expect(event.header.reception == expected.reception)
            #expect(event.header.isMasked == expected.isMasked)
        }
    }
}
