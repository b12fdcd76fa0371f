import EventLog
import LogKit
import Synchronization
import TestKit
import Testing

/// Reads that skip sealed blocks by what these say openly.
struct SealingFilters {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `a filtered read shows every event that fits, in both directions, and skips what it can`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        var options = EventLogOptions()
        options.sealing.isAutomatic = false
        options.summariser = firstByte
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        var values: [UInt8] = []
        for _ in 0..<20 {
            // Values come in stretches, so that many blocks do not have most of them.
            let base = UInt8.random(in: 0..<200, using: &generator)
            let stretch = (0..<1000).map { _ in base + UInt8.random(in: 0..<4, using: &generator) }
            values += stretch
            try await log.append(stretch.map { NewEvent([$0] + Array(repeating: 0, count: 100), encoding: .note, source: .log) })
        }
        try await log.seal()
        var shown = 0
        for _ in 0..<20 {
            let value = values.randomElement(using: &generator) ?? 0
            let filter = BlockFilter(facts: [[EventFact(1, UInt32(value)), EventFact(1, 999)]])
            let first = Int.random(in: 1...values.count, using: &generator)
            let last = min(values.count, first + Int.random(in: 0..<20_000, using: &generator))
            let expected = (first...last).filter { values[$0 - 1] == value }
            for reversed in [false, true] {
                let range = EventSequence(UInt64(first))...EventSequence(UInt64(last))
                let events = try log.events(in: range, reversed: reversed, where: filter)
                let found = events.filter { $0.payload.first == value }.map { Int($0.sequence.rawValue) }
                #expect(found == (reversed ? expected.reversed() : expected), "seed \(seed)")
                #expect(events.allSatisfy { $0.payload.first == values[Int($0.sequence.rawValue) - 1] })
                shown += events.count
            }
            var found: [Int] = []
            try log.withEvents(from: EventSequence(UInt64(first)), where: filter) { header, payload in
                let byte = unsafe payload.withUnsafeBytes { unsafe $0.first }
                if byte == value { found.append(Int(header.sequence.rawValue)) }
                return true
            }
            #expect(found == (first...values.count).filter { values[$0 - 1] == value }, "seed \(seed)")
        }
        #expect(shown < 20 * values.count / 2)
        await log.close()
    }

    @Test func `blocks are skipped by arrival time, also where the clock jumped`() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(Timestamp(seconds: 1_000_000))
        var options = EventLogOptions(clock: clock.read)
        options.sealing.isAutomatic = false
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        for seconds in [1_000_000, 5_000_000, 2_000_000, 9_000_000] as [Int64] {
            clock.set(Timestamp(seconds: seconds))
            try await appendNumbered(log, 4000)
        }
        try await log.seal()
        let wanted = Timestamp(seconds: 1_900_000)...Timestamp(seconds: 2_100_000)
        var shown: [EventHeader] = []
        try log.withEvents(from: EventSequence(1), where: BlockFilter(arrivals: wanted)) { header, _ in
            shown.append(header)
            return true
        }
        #expect(shown.filter { wanted.contains($0.arrivalTime) }.map(\.sequence.rawValue) == Array(8001...12_000))
        #expect(shown.count < 9000)
        await log.close()
    }

    @Test func `an event without facts keeps its block from being skipped`() async throws {
        let folder = try TemporaryFolder()
        var options = EventLogOptions()
        options.sealing.isAutomatic = false
        options.summariser = firstByte
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        let dark = 700
        try await log.append(
            (1...4096).map {
                NewEvent(($0 == dark ? [] : [7]) + Array(repeating: 0, count: $0 == dark ? 0 : 90), encoding: .note, source: .log)
            })
        try await log.seal()
        let events = try log.events(
            in: EventSequence(1)...EventSequence(4096), where: BlockFilter(facts: [[EventFact(1, 8)]]))
        #expect(events.contains { $0.sequence == EventSequence(UInt64(dark)) })
        #expect(events.count < 2000)
        await log.close()
    }

    /// The first byte of a payload is a fact; an event without one may have any.
    private var firstByte: EventSummariser {
        EventSummariser(facets: [1, 2]) { _, payload, facts in
            if let byte = unsafe payload.withUnsafeBytes({ unsafe $0.first }) {
                facts.insert(UInt32(byte), 1)
            } else {
                facts.makeAllUnknown()
            }
        }
    }
}
