import LMDB
import LogKit
import Synchronization
import TestKit
import Testing

@testable import EventLog

struct AppendTests {
    @Test func `an event comes back byte for byte with all that was said about it`() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        let log = try EventLog.create(at: folder.path + "/ledger", options: EventLogOptions(clock: clock.read))
        let source = try await log.source(named: "a file")
        let payload: [UInt8] = [1, 2, 3, 0, 255]
        let recorded = Timestamp(seconds: 1_700_000_000)
        let first = try await log.append(
            NewEvent(payload, encoding: .note, source: source, reception: .recorded(recorded), isMasked: true))
        clock.advance(seconds: -60)
        let second = try await log.append(NewEvent([], encoding: .init(rawValue: 16), source: .log, reception: .unrecorded))
        #expect(first == EventSequence(1))
        #expect(second == EventSequence(2))
        let event = try #require(try log.event(first))
        #expect(event.payload == payload)
        #expect(event.header.arrivalTime == Timestamp(seconds: 1_780_000_000))
        #expect(event.header.reception == .recorded(recorded))
        #expect(event.header.receptionTime == recorded)
        #expect(event.header.source == source)
        #expect(event.header.encoding == .note)
        #expect(event.header.isMasked)
        let other = try #require(try log.event(second))
        #expect(other.payload.isEmpty)
        #expect(other.header.arrivalTime == Timestamp(seconds: 1_780_000_000 - 60))
        #expect(other.header.receptionTime == nil)
        #expect(!other.header.isMasked)
        #expect(try log.event(EventSequence(3)) == nil)
        await log.close()
    }

    @Test func `many tasks append at once and get sequences without gaps`() async throws {
        let log = try EventLog.temporary()
        let sequences = try await withThrowingTaskGroup(of: [EventSequence].self) { group in
            for task in 0..<16 as Range<UInt8> {
                group.addTask {
                    var mine: [EventSequence] = []
                    for number in 0..<100 as Range<UInt8> {
                        mine.append(try await log.append(NewEvent([task, number], encoding: .note, source: .log)))
                    }
                    return mine
                }
            }
            return try await group.reduce(into: []) { $0.append(contentsOf: $1) }
        }
        #expect(sequences.sorted() == (1...1600).map { EventSequence($0) })
        let payloads = try log.events(in: EventSequence(1)...EventSequence(1600)).map(\.payload)
        #expect(Set(payloads).count == 1600)
        for task in 0..<16 as Range<UInt8> {
            #expect(payloads.filter { $0[0] == task }.map { $0[1] } == Array(0..<100))
        }
        await log.close()
    }

    @Test func `events, batches and blocking threads share one order`() async throws {
        let log = try EventLog.temporary()
        let many = try await log.append((0..<10).map { NewEvent([$0], encoding: .note, source: .log) })
        var batch = EventBatch()
        for number in 10..<15 as Range<UInt8> { batch.append(NewEvent([number], encoding: .note, source: .log)) }
        for number in 15..<20 as Range<UInt8> {
            let payload = [number]
            batch.append(payload.span.rawBytes, encoding: .note, source: .log)
        }
        let batched = try await log.append(batch)
        batch.removeAll()
        #expect(try await log.append(batch) == nil)
        let blocking = try log.appendBlocking([NewEvent([20], encoding: .note, source: .log)])
        #expect(many == EventSequence(1)...EventSequence(10))
        #expect(batched == EventSequence(11)...EventSequence(20))
        #expect(blocking == EventSequence(21)...EventSequence(21))
        let payloads = try log.events(in: EventSequence(1)...EventSequence(99)).map(\.payload)
        #expect(payloads == (0...20).map { [$0] })
        await log.close()
    }

    @Test func `what is larger than the log takes is refused and nothing else is`() async throws {
        let log = try EventLog.temporary()
        let large = [UInt8](repeating: 7, count: NewEvent.largestPayload + 1)
        let error = await #expect(throws: EventLogError.self) {
            try await log.append(NewEvent(large, encoding: .note, source: .log))
        }
        #expect(error?.code == .tooLarge)
        let sequence = try await log.append(NewEvent(Array(large.dropLast()), encoding: .note, source: .log))
        #expect(try log.event(sequence)?.payload.count == NewEvent.largestPayload)
        await log.close()
    }

    @Test func `a closed log has stored all that was appended and takes no more`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        let done = Mutex(0)
        for number in 0..<50 as Range<UInt8> {
            try log.submit([NewEvent([number], encoding: .note, source: .log)]) { result in
                if case .success = result { done.withLock { $0 += 1 } }
            }
        }
        await log.close()
        #expect(done.withLock { $0 } == 50)
        let error = await #expect(throws: EventLogError.self) {
            try await log.append(NewEvent([1], encoding: .note, source: .log))
        }
        #expect(error?.code == .closed)
        let again = try EventLog.open(at: path)
        #expect(again.head == EventSequence(50))
        await again.close()
    }

    @Test func `a batch that wants a place is stored there or not at all`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 3)
        var batch = EventBatch()
        for _ in 0..<2 { batch.append(NewEvent([1], encoding: .note, source: .log)) }
        for place in [0, 2, 3, 5, 6] as [UInt64] {
            batch.place = place
            let error = await #expect(throws: EventLogError.self) { try await log.append(batch) }
            #expect(error?.code == .cursorMoved && log.head == EventSequence(3), "\(place)")
        }
        batch.place = 4
        #expect(try await log.append(batch) == EventSequence(4)...EventSequence(5))
        await log.close()
    }

    @Test func `a full queue refuses what nobody waits for`() async throws {
        var options = EventLogOptions(queueLimit: 1000)
        let gate = Gate()
        options.commitFault = {
            gate.pass()
            return nil
        }
        let log = try EventLog.temporary(options: options)
        gate.close()
        var refused = 0
        for _ in 0..<50 {
            do throws(EventLogError) {
                try log.submit([NewEvent([UInt8](repeating: 1, count: 68), encoding: .note, source: .log)])
            } catch {
                #expect(error.code == .queueFull)
                refused += 1
            }
        }
        gate.open()
        try await log.append(Gap(count: UInt64(refused), first: .now, last: .now, reason: "queue full").event(of: .log))
        #expect(refused >= 30)
        let last = try #require(try log.event(log.head))
        #expect(last.header.encoding == .gap)
        let gap = unsafe Gap(payload: last.payload.span.bytes)
        #expect(gap?.count == UInt64(refused))
        #expect(log.head == EventSequence(UInt64(50 - refused + 1)))
        await log.close()
    }
}

extension AppendTests {
    @Test func `a single event that waits behind a batch arrives when it comes, not when an earlier one did`() async throws {
        let gate = Gate()
        let clock = ManualClock(Timestamp(seconds: 1_000))
        var options = EventLogOptions(clock: clock.read)
        options.commitFault = {
            gate.pass()
            return nil
        }
        let log = try EventLog.temporary(options: options)
        let event = NewEvent([1], encoding: .note, source: .log)
        try await log.append(event)
        clock.set(Timestamp(seconds: 2_000))
        gate.close()
        // The first holds the writer up, the second waits in the queue, and the single event behind it.
        try log.submit([event])
        try await eventually { gate.isHolding }
        try log.submit([event])
        let waiting = log.queue.waitingCount
        async let last = log.append(event)
        try await eventually { log.queue.waitingCount > waiting }
        gate.open()
        let sequence = try await last
        #expect(try log.event(sequence)?.header.arrivalTime == Timestamp(seconds: 2_000))
        await log.close()
    }

    @Test func `copies of erased events have no salts, on both sides of a tile's end`() async throws {
        let folder = try TemporaryFolder()
        let log = try await logOfSecrets(folder.path + "/ledger", 520)
        let erased = SequenceSet([1...1, 255...258, 512...512, 514...514])
        try await log.erase(erased.sequences, reason: "asked for")
        var batch = EventBatch()
        batch.keepsArrivals = true
        do {
            let reader = try log.beginRead()
            var cursor = try reader.cursor()
            while try cursor.next(), cursor.sequence.rawValue <= 520 { batch.append(record: cursor.record) }
        }
        let copy = try EventLog.temporary()
        try await copy.append(batch)
        for tile in 0...2 as ClosedRange<UInt64> {
            let salts = try copy.store.salts(ofTile: tile, copy.store.environment.beginRead())
            let gone = (0..<256).filter { place in salts.salt(place).allSatisfy { $0 == 0 } }.map { 256 * tile + UInt64($0) + 1 }
            #expect(gone == erased.from(256 * tile + 1).through(256 * (tile + 1)).ranges.flatMap { Array($0) })
        }
        await log.close()
        await copy.close()
    }

    @Test(arguments: [(0, 256), (0, 257), (100, 156), (100, 157), (255, 1), (255, 2), (256, 1), (100, 500)])
    func `copies have the salts that they bring, on both sides of a tile's end`(before: Int, count: Int) async throws {
        let log = try EventLog.temporary()
        if before > 0 { try await appendNumbered(log, before) }
        var generator = SeededGenerator(seed: UInt64(before + count))
        let salts = generator.bytes(16 * count)
        var batch = EventBatch()
        for number in 1...count { batch.append(NewEvent(numberedPayload(number), encoding: .note, source: .log)) }
        batch.copied = CopiedParts()
        batch.copied?.salts = salts
        try await log.append(batch)
        for tile in before / 256...(before + count - 1) / 256 {
            let stored = try log.store.salts(ofTile: UInt64(tile), log.store.environment.beginRead())
            for place in max(before, 256 * tile)..<min(before + count, 256 * (tile + 1)) {
                let own = 16 * (place - before)..<16 * (place - before + 1)
                #expect(Array(stored.salt(place % 256)) == Array(salts[own]), "event \(place + 1)")
            }
        }
        #expect(try log.verify().problems == [])
        await log.close()
    }
}
