import LMDB
import LogKit
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
        for _ in 0..<2 {
            try await log.seal()
            let statistics = try log.sealingStatistics()
            #expect(statistics.lastSealed == 256 && statistics.blocks > 200)
        }
        await log.close()
    }
}
