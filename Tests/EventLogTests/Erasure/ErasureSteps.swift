import LMDB
import LogKit
import TestKit
import Testing

@testable import EventLog

/// How much one transaction erases, so that appends do not wait for all of it.
struct ErasureSteps {
    /// Where the eraser goes on after one transaction, and again after one that is aborted.
    private func step(_ eraser: RecordEraser, _ log: EventLog) throws -> UInt64? {
        var write = try log.store.environment.beginWrite()
        try eraser.move(into: &write, log.store)
        write.abort()
        let before = eraser.next
        eraser.ended(StorageError(.busy, call: "a test", path: log.path))
        #expect(eraser.next == before)
        write = try log.store.environment.beginWrite()
        try eraser.move(into: &write, log.store)
        try write.commit()
        eraser.ended(nil)
        return eraser.next
    }

    @Test func `a transaction erases up to 4,096 plain records, those that are asked for only`() async throws {
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        let source = try await log.source(named: "a mesh")
        try await log.append((0..<5_000).map { NewEvent(numberedPayload($0), encoding: .note, source: source) })
        let eraser = try RecordEraser(SequenceSet([1...10, 101...4_176, 4_200...5_000]), nil)
        #expect(eraser.next == 1)
        #expect(try step(eraser, log) == 4_210)
        #expect(try step(eraser, log) == nil)
        let left = try log.events(in: EventSequence(1)...EventSequence(5_000)).filter { !$0.header.isErased }
        #expect(left.map(\.sequence.rawValue) == Array(11...100) + Array(4_177...4_199))
        await log.close()
    }

    @Test func `a transaction erases in up to 32 blocks, each as a whole`() async throws {
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        let source = try await log.source(named: "a mesh")
        try await log.append((0..<400).map { NewEvent(numberedPayload($0), encoding: .note, source: source) })
        try seal(log, upTo: 390, inBlocksOf: 10)
        let eraser = try RecordEraser(SequenceSet([5...5, 8...395]), nil)
        #expect(try step(eraser, log) == 321)
        #expect(try step(eraser, log) == nil)
        let left = try log.events(in: EventSequence(1)...EventSequence(400)).filter { !$0.header.isErased }
        #expect(left.map(\.sequence.rawValue) == [1, 2, 3, 4, 6, 7, 396, 397, 398, 399, 400])
        await log.close()
    }
}
