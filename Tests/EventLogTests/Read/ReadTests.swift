import EventLog
import LogKit
import TestKit
import Testing

struct ReadTests {
    @Test func `events are read forwards and backwards within any range`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 100)
        func sequences(_ range: ClosedRange<UInt64>, limit: Int = .max, reversed: Bool = false) throws -> [UInt64] {
            let range = EventSequence(range.lowerBound)...EventSequence(range.upperBound)
            return try log.events(in: range, limit: limit, reversed: reversed).map(\.sequence.rawValue)
        }
        #expect(try sequences(1...100) == Array(1...100))
        #expect(try sequences(0...3) == [1, 2, 3])
        #expect(try sequences(98...UInt64.max) == [98, 99, 100])
        #expect(try sequences(98...UInt64.max, reversed: true) == [100, 99, 98])
        #expect(try sequences(10...90, limit: 3) == [10, 11, 12])
        #expect(try sequences(10...90, limit: 3, reversed: true) == [90, 89, 88])
        #expect(try sequences(101...200) == [])
        #expect(try sequences(0...0) == [])
        #expect(try sequences(1...100, limit: 0) == [])
        await log.close()
    }

    @Test func `a body sees each event once, may stop and may throw`() async throws {
        struct Stop: Error {}
        let log = try EventLog.temporary()
        try await appendNumbered(log, 100)
        var seen: [UInt64] = []
        try log.withEvents(from: EventSequence(10), count: 5) { header, payload in
            seen.append(header.sequence.rawValue)
            #expect(header.payloadLength == payload.byteCount)
            return true
        }
        try log.withEvents(from: EventSequence(99)) { header, _ in
            seen.append(header.sequence.rawValue)
            return true
        }
        try log.withEvents(from: .zero) { header, _ in
            seen.append(header.sequence.rawValue)
            return false
        }
        #expect(seen == [10, 11, 12, 13, 14, 99, 100, 1])
        #expect(throws: Stop.self) { try log.withEvents(from: .zero) { (_, _) throws(Stop) in throw Stop() } }
        await log.close()
    }

    @Test func `a damaged event is found when it is read and listed when all are verified`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        try await appendNumbered(log, 5000)
        await log.close()
        for number in [7, 4000] { try LogFiles(path: path).damage(numberedPayload(number)) }
        let damaged = try EventLog.open(at: path)
        let error = #expect(throws: EventLogError.self) { _ = try damaged.event(EventSequence(7)) }
        #expect(error?.code == .corrupt)
        #expect(error?.description.contains("event 7") == true)
        #expect(throws: EventLogError.self) { try damaged.withEvents(from: EventSequence(1)) { _, _ in true } }
        var count = 0
        try damaged.withEvents(from: EventSequence(1), checksums: false) { _, _ in
            count += 1
            return true
        }
        #expect(count == 5000)
        var progress: [Int] = []
        let result = try damaged.verify {
            progress.append($0.checked)
            return true
        }
        #expect(result.problems.map(\.sequence) == [EventSequence(7), EventSequence(4000)])
        #expect(result.eventsChecked == 5000)
        #expect(progress.last == 5000)
        await damaged.close()
    }

    @Test func `the checksum of a record tells logs apart`() async throws {
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        func make(_ byte: UInt8) async throws -> UInt64? {
            let log = try EventLog.temporary(options: EventLogOptions(clock: clock.read))
            try await log.append(NewEvent([byte], encoding: .note, source: .log))
            let checksum = try log.checksum(of: EventSequence(1))
            #expect(try log.checksum(of: EventSequence(2)) == nil)
            await log.close()
            return checksum
        }
        let first = try await make(1)
        #expect(first != nil)
        #expect(try await make(1) == first)
        #expect(try await make(2) != first)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the last event that had arrived by a time is found whatever the clock did`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        let log = try EventLog.temporary(options: EventLogOptions(clock: clock.read))
        var arrivals: [Timestamp] = []
        for _ in 0..<Int.random(in: 600...1100, using: &generator) {
            clock.advance(
                seconds: Int64.random(in: 0..<20, using: &generator) == 0 ? -3000 : Int64.random(in: 0..<30, using: &generator))
            arrivals.append(clock.read())
            try await log.append(NewEvent([1], encoding: .note, source: .log))
        }
        for _ in 0..<300 {
            let time = Timestamp(seconds: 1_780_000_000).adding(seconds: Int64.random(in: -9000..<9000, using: &generator))
            let last = arrivals.lastIndex { $0 <= time }.map { EventSequence(UInt64($0) + 1) } ?? .zero
            #expect(try log.lastSequence(arrivedBy: time) == last, "seed \(seed), \(time)")
            let first = arrivals.firstIndex { $0 >= time }.map { EventSequence(UInt64($0) + 1) }
            #expect(try log.firstSequence(arrivedFrom: time) == first, "seed \(seed), \(time)")
        }
        #expect(try log.verify().isIntact)
        await log.close()
    }
}
