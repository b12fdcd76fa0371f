import LMDB
import LogKit
import Synchronization
import TestKit
import Testing

@testable import EventLog

/// What is sealed of itself and on request, and that every caller who waits for it is answered.
struct SealingPlans {
    /// Waits for the sealer to have looked once more, without asking for more than it does of itself.
    private func look(_ log: EventLog) async throws {
        let sealer = try #require(log.sealer)
        let problem = await withCheckedContinuation { waiter in
            sealer.add(SealRequest(target: 0, progress: { _ in }, waiter: waiter))
        }
        #expect(problem == nil)
    }

    private func append(_ count: Int, bytes: Int, to log: EventLog, _ generator: inout SeededGenerator) async throws {
        try await log.append((0..<count).map { _ in NewEvent(generator.bytes(bytes), encoding: .note, source: .log) })
    }

    @Test func `the last events stay as they are, and of those before them only what fills a block is sealed`() async throws {
        var generator = SeededGenerator(seed: 31)
        let hot = 2_000
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(hotEvents: hot)))
        try await append(hot + 300, bytes: 60, to: log, &generator)
        try await look(log)
        #expect(try log.sealingStatistics().lastSealed == 0, "300 old events fill no block")
        try await append(3_700, bytes: 60, to: log, &generator)
        var sealed: UInt64 = 0
        repeat {
            try await look(log)
            sealed = try log.sealingStatistics().lastSealed
        } while sealed == 0
        #expect(sealed <= 4_000 && log.sealingProblem == nil)
        await log.close()
    }

    @Test func `more blocks than are made at a time are sealed to the end, and who asks for nothing more is answered`()
        async throws
    {
        var generator = SeededGenerator(seed: 32)
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        // Each is as large as a block: one transaction moves 16, and 16 more are made meanwhile.
        let large = NewEvent(generator.bytes(BlockEncoder.reach), encoding: .note, source: .log)
        try await log.append(Array(repeating: large, count: 256))
        let steps = Mutex<[UInt64]>([])
        for _ in 0..<2 {
            try await log.seal { step in steps.withLock { $0.append(step.target == 256 ? step.sealed : 0) } }
            let statistics = try log.sealingStatistics()
            #expect(statistics.lastSealed == 256 && statistics.blocks > 200 && statistics.hotEvents == 0)
        }
        let sealed = steps.withLock { $0 }
        #expect(sealed.count > 3 && sealed == sealed.sorted() && sealed.allSatisfy { $0 < 256 } && sealed.last ?? 0 > 200)
        await log.close()
    }

    @Test func `old events are sealed with later appends, and without any once nobody appends`() async throws {
        var generator = SeededGenerator(seed: 33)
        for appendsMore in [true, false] {
            let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(hotEvents: 1_000)))
            let isSealed = Latch()
            let hook = log.onAppend { [weak log] _ in
                if let sealed = try? log?.sealingStatistics().sealedEvents, sealed > 0 { isSealed.open() }  // it may be closing
            }
            try await append(4_000, bytes: 60, to: log, &generator)
            while appendsMore, try log.sealingStatistics().sealedEvents == 0 {
                try await append(1, bytes: 60, to: log, &generator)
            }
            await isSealed.wait()
            log.removeHook(hook)
            #expect(try log.sealingStatistics().lastSealed <= log.head.rawValue - 1_000)
            await log.close()
        }
    }

    @Test func `blocks that do not fit below the size limit are made when that is asked for, since they make room`() async throws
    {
        var generator = SeededGenerator(seed: 34)
        var options = EventLogOptions(sizeLimit: 4 << 20, sealing: SealingPolicy(isAutomatic: false))
        options.lookInterval = .milliseconds(20)
        let log = try EventLog.temporary(options: options)
        let events = (0..<64).map { _ in NewEvent(generator.bytes(1_000), encoding: .note, source: .log) }
        await #expect(throws: EventLogError.self) { while true { try await log.append(events) } }
        try await log.seal()
        #expect(try log.sealingStatistics().lastSealed == log.head.rawValue / 256 * 256)
        #expect(try log.events(in: EventSequence(1)...log.head).enumerated().allSatisfy { $1.payload == events[$0 % 64].payload })
        #expect(try log.verify().isIntact && log.sealingProblem == nil)
        await log.close()
    }

    @Test func `who pauses the sealer twice must let it go on twice, and it goes on from what is stored`() async throws {
        var generator = SeededGenerator(seed: 35)
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        try await append(5_120, bytes: 60, to: log, &generator)
        let sealer = try #require(log.sealer)
        for _ in 0..<2 { sealer.pause() }
        let isSealed = Atomic<Bool>(false)
        async let sealing: Void = {
            try await log.seal()
            isSealed.store(true, ordering: .sequentiallyConsistent)
        }()
        sealer.goOn()
        // What the sealer would have made by now would be moved with this.
        sealer.pause()
        try await append(1, bytes: 60, to: log, &generator)
        #expect(try log.sealingStatistics().lastSealed == 0 && !isSealed.load(ordering: .sequentiallyConsistent))
        for _ in 0..<2 { sealer.goOn() }
        try await sealing
        #expect(try log.sealingStatistics().lastSealed == 5_120 && log.verify().isIntact)
        await log.close()
    }
}
