import LMDB
import LogKit
import TestKit
import Testing

@testable import EventLog

/// What a retention would drop, and how much room that takes.
struct RetentionPlans {
    /// The block with facts that mean nothing, so that its value has this many bytes.
    private func filled(_ block: EncodedBlock, to size: Int) -> [UInt8] {
        let count = size - block.bytes.count
        var bytes = block.bytes
        bytes.insert(contentsOf: [UInt8](repeating: 0, count: count), at: BlockHeader.size)
        for place in 0..<4 { bytes[44 + place] = UInt8(truncatingIfNeeded: count >> (8 * place)) }
        BlockEncoder.writeChecksums(&bytes, factsLength: count, first: block.first)
        return bytes
    }

    /// Gives the blocks' values these sizes.
    private func replace(_ blocks: [EncodedBlock], sizes: [Int], in log: EventLog) throws {
        var write = try log.store.environment.beginWrite()
        for (block, size) in zip(blocks, sizes) {
            let (key, value) = (SequenceKey(block.first), filled(block, to: size))
            try write.put(log.store.sealed, key: key.span, value: value.span.rawBytes)
        }
        try write.commit()
    }

    @Test func `a plan has the bytes of the pages that LMDB gives to its blocks`() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        var options = EventLogOptions(clock: clock.read)
        options.sealing.isAutomatic = false
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        // A page has 4,096 bytes, and the first of a value a header of 16.
        let sizes = [8_175, 8_176, 8_177, 12_272, 12_273]
        let pages = [2, 2, 3, 3, 4]
        for _ in sizes {
            try await appendNumbered(log, 256)
            clock.advance(seconds: 60)
        }
        try replace(try seal(log, upTo: 256 * UInt64(sizes.count), inBlocksOf: 256), sizes: sizes, in: log)
        #expect(try log.store.environment.beginRead().statistics(log.store.sealed).overflowPages == pages.reduce(0, +))
        for count in 1...sizes.count {
            let time = Timestamp(seconds: 1_780_000_000 + 60 * Int64(count))
            let plan = try #require(try log.retentionPlan(olderThan: time, largerThan: nil))
            #expect(plan.last == EventSequence(256 * UInt64(count)))
            #expect(plan.bytes == 4_096 * pages.prefix(count).reduce(0, +), "\(count) blocks")
        }
        await log.close()
    }

    @Test func `to save a byte, the first block goes whole, up to the next multiple of 256`() async throws {
        let folder = try TemporaryFolder()
        var options = EventLogOptions()
        options.sealing.isAutomatic = false
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        try await appendNumbered(log, 1_200)
        try replace(try seal(log, upTo: 1_200, inBlocksOf: 300), sizes: [8_000, 8_000, 8_000, 8_000], in: log)
        let size = try log.size()
        #expect(try log.retentionPlan(olderThan: nil, largerThan: size) == nil)
        for (saved, last, bytes) in [(1, 512, 8_192), (8_192, 512, 8_192), (8_193, 768, 16_384), (16_384, 768, 16_384)] {
            let plan = try #require(try log.retentionPlan(olderThan: nil, largerThan: size - saved))
            #expect(plan.last == EventSequence(UInt64(last)) && plan.bytes == bytes && plan.logBytes == size, "\(saved)")
        }
        await log.close()
    }

    @Test func `a plan and a cut have the lowest and highest arrival, whatever the order`() async throws {
        let folder = try TemporaryFolder()
        let start: Int64 = 1_780_000_000
        let clock = ManualClock(Timestamp(seconds: start + 50))
        let log = try EventLog.create(at: folder.path + "/ledger", options: EventLogOptions(clock: clock.read))
        for (seconds, count) in [(50, 100), (20, 156), (90, 100), (70, 156), (100, 300)] as [(Int64, Int)] {
            clock.set(Timestamp(seconds: start + seconds))
            try await appendNumbered(log, count)
        }
        let plan = try #require(try log.retentionPlan(olderThan: Timestamp(seconds: start + 100), largerThan: nil))
        let (_, retention) = try await log.cut(through: EventSequence(512))
        #expect(plan.last == EventSequence(512) && plan.count == 512)
        for (first, last) in [(plan.firstArrival, plan.lastArrival), (retention.firstArrival, retention.lastArrival)] {
            #expect(first == Timestamp(seconds: start + 20) && last == Timestamp(seconds: start + 90))
        }
        await log.close()
    }

    @Test func `blocks of dropped events that are still stored count as none`() async throws {
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        try await appendNumbered(log, 1_024)
        try replace(try seal(log, upTo: 1_024, inBlocksOf: 256), sizes: [8_000, 8_000, 8_000, 8_000], in: log)
        let (cut, _) = try log.prepareCut(through: 256, [], [])
        _ = try await log.first(of: .cut(cut))
        let plan = try #require(try log.retentionPlan(olderThan: nil, largerThan: 0))
        #expect(plan.last == EventSequence(1_024) && plan.bytes == 3 * 8_192)
        await log.close()
    }

    @Test func `plain records behind blocks share the pages of plain records only, also if it is one`() async throws {
        for (events, sealed, blocks) in [(1_000, 512, [8_000, 8_000]), (512, 511, [8_000, 8_000])] {
            let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
            try await appendNumbered(log, events)
            try replace(try seal(log, upTo: UInt64(sealed), inBlocksOf: 256), sizes: blocks, in: log)
            let last = events == 1_000 ? 768 : 512
            let share = try log.store.environment.beginRead().statistics(log.store.events).pages * 4_096 / (events - sealed)
            let plan = try #require(try log.retentionPlan(olderThan: nil, largerThan: 0))
            #expect(plan.last == EventSequence(UInt64(last)) && plan.bytes == 2 * 8_192 + (last - sealed) * share, "\(events)")
            await log.close()
        }
    }

    @Test func `of plain records, each takes its share of their pages, and a multiple of 256 goes`() async throws {
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        try await appendNumbered(log, 1_000)
        let size = try log.size()
        let share = try log.store.environment.beginRead().statistics(log.store.events).pages * 4_096 / 1_000
        for (saved, tiles) in [
            (1, 1), (256 * share, 1), (256 * share + 1, 2), (512 * share, 2), (512 * share + 1, 3), (768 * share, 3),
            (768 * share + 1, 3), (size, 3),
        ] {
            let plan = try #require(try log.retentionPlan(olderThan: nil, largerThan: size - saved))
            #expect(plan.last == EventSequence(256 * UInt64(tiles)) && plan.count == 256 * UInt64(tiles), "\(saved)")
            #expect(plan.bytes == 256 * tiles * share && plan.logBytes == size, "\(saved)")
        }
        try await log.cut(through: EventSequence(256))
        let rest = try log.size()
        let plan = try #require(try log.retentionPlan(olderThan: nil, largerThan: 0))
        #expect(plan.last == EventSequence(768) && plan.count == 512 && plan.logBytes == rest)
        await log.close()
    }

    @Test func `a plan by time ends before the first event that arrived then, and nothing is planned of no event`() async throws {
        let start: Int64 = 1_780_000_000
        let clock = ManualClock(Timestamp(seconds: start))
        let log = try EventLog.temporary(options: EventLogOptions(clock: clock.read))
        func last(_ seconds: Int64) throws -> UInt64? {
            try log.retentionPlan(olderThan: Timestamp(seconds: start + seconds), largerThan: nil)?.last.rawValue
        }
        #expect(try last(9) == nil)
        let none = try log.retentionOutlook(olderThan: 1, largerThan: nil, now: clock.read())
        #expect(none.plan == nil && none.byClock == nil && !none.isHeldBack)
        for count in [255, 1, 256, 100] {
            try await appendNumbered(log, count)
            clock.advance(seconds: 1)
        }
        for (seconds, expected) in [(0, nil), (1, nil), (2, 256), (3, 512), (4, 512), (5, 512)] as [(Int64, UInt64?)] {
            #expect(try last(seconds) == expected, "\(seconds)")
        }
        func kept(_ age: Int64) throws -> UInt64 {
            try log.retentionOutlook(olderThan: age, largerThan: nil, now: clock.read()).kept
        }
        #expect(try kept(4) == 612 && kept(2) == 356 && kept(1) == 100)
        try await log.cut(through: EventSequence(256))
        for (seconds, expected) in [(0, nil), (2, nil), (3, 512), (9, 512)] as [(Int64, UInt64?)] {
            #expect(try last(seconds) == expected, "\(seconds), after a cut")
        }
        #expect(try kept(4) == 357 && kept(1) == 101)
        await log.close()
    }

    @Test func `the events of a tile are as old as the latest of them, also where they came within an hour`() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        let log = try EventLog.create(at: folder.path + "/ledger", options: EventLogOptions(clock: clock.read))
        for _ in 0..<4 {
            try await appendNumbered(log, 64)
            clock.advance(seconds: 600)
        }
        #expect(try log.ages(olderThan: 600, now: clock.read()).lastOld == 0)
        #expect(try log.ages(olderThan: 599, now: clock.read()).lastOld == 256)
        await log.close()
    }

    @Test func `a plan is held back where the clock would drop more than half of what it keeps`() {
        func plan(_ last: UInt64, _ count: UInt64) -> RetentionPlan {
            RetentionPlan(
                last: EventSequence(last), count: count, firstArrival: .now, lastArrival: .now, bytes: 0, logBytes: 0)
        }
        // 1,024 events are dropped already.
        for (own, byClock, kept, isHeldBack) in [
            (nil, nil, 9, false), (nil, plan(1_536, 512), 1_024, false), (nil, plan(1_536, 512), 1_023, true),
            (plan(1_280, 256), plan(1_536, 512), 512, false), (plan(1_280, 256), plan(1_536, 512), 511, true),
            (plan(1_280, 256), nil, 0, false),
        ] as [(RetentionPlan?, RetentionPlan?, UInt64, Bool)] {
            var outlook = RetentionOutlook(plan: own)
            outlook.byClock = byClock
            outlook.kept = kept
            #expect(outlook.isHeldBack == isHeldBack, "\(kept)")
        }
    }

    @Test func `blocks that overlap are refused as damaged`() async throws {
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        try await appendNumbered(log, 600)
        var run = RecordRun()
        run.begin(at: 150)
        do {
            let reader = try log.beginRead()
            var cursor = try reader.cursor()
            var isThere = try cursor.seek(EventSequence(150))
            while isThere, cursor.sequence.rawValue <= 200 {
                run.append(cursor.record)
                isThere = try cursor.next()
            }
        }
        try seal(log, upTo: 600, inBlocksOf: 300)
        let (block, store) = (try BlockEncoder(summariser: nil).encode(run, count: run.count), log.store)
        try store.environment.write { (write) throws(StorageError) in
            let key = SequenceKey(150)
            try write.put(store.sealed, key: key.span, value: block.bytes.span.rawBytes)
        }
        let error = #expect(throws: EventLogError.self) { try log.retentionPlan(olderThan: nil, largerThan: 0) }
        #expect(error?.code == .corrupt)
        await log.close()
    }
}
