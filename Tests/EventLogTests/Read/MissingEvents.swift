import LMDB
import LogKit
import MeshCrypto
import TestKit
import Testing

@testable import EventLog

/// A page of the store that was damaged can lose events, or lead to those of another place: a reader says so, and never goes past.
struct MissingEvents {
    /// A log of 1,000 events whose rows in the store were then changed.
    private func damaged(
        _ folder: TemporaryFolder, _ change: (inout WriteTransaction, LogStore) throws(StorageError) -> Void
    ) async throws -> EventLog {
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        try await appendNumbered(log, 1_000)
        await log.close()
        try LogFiles(path: path).change(change)
        return try EventLog.open(at: path)
    }

    private func read(_ log: EventLog, from first: UInt64) throws -> [UInt64] {
        var seen: [UInt64] = []
        try log.withEvents(from: EventSequence(first)) { header, _ in
            seen.append(header.sequence.rawValue)
            return true
        }
        return seen
    }

    @Test func `a reader admits each event after the one before, or after some that may be skipped, and knows which are lacking`()
    {
        for direction in [ReadingDirection.forward, .backward] {
            func event(_ steps: Int) -> EventSequence { EventSequence(100).advanced(by: direction == .forward ? steps : -steps) }
            for skips in [false, true] {
                // Which of these events are admitted one after the other, and which comes next.
                func admitted(_ steps: Int...) -> (admitted: [Bool], order: ReadingOrder) {
                    var order = ReadingOrder(from: event(0), direction, skips: skips)
                    let admitted = steps.map { order.admits(event($0)) }
                    return (admitted, order)
                }
                #expect(admitted(0, 1, 2).admitted == [true, true, true] && admitted(0, 1, 2).order.next == event(3))
                #expect(admitted(0, 0).admitted == [true, false] && admitted(0, 0).order.next == event(1))
                #expect(admitted(-1).admitted == [false] && admitted(-1).order.next == event(0))
                #expect(admitted(1).admitted == [skips] && admitted(1).order.next == (skips ? event(2) : event(0)))
                #expect(
                    admitted().order.lacks(through: event(0)) == !skips && admitted().order.lacks(through: event(5)) == !skips)
                #expect(!admitted(0).order.lacks(through: event(0)) && admitted(0).order.lacks(through: event(1)) == !skips)
            }
        }
        var last = ReadingOrder(from: EventSequence(1), .backward, skips: false)
        let isAdmitted = last.admits(EventSequence(1))
        #expect(isAdmitted && !last.lacks(through: .zero), "there is no event before the first")
    }

    @Test func `an event that is gone ends every reading over it`() async throws {
        let folder = try TemporaryFolder()
        let log = try await damaged(folder) { write, store throws(StorageError) in
            let (key, elsewhere) = (SequenceKey(500), SequenceKey(0))
            _ = try write.delete(store.events, key: key.span)
            // As many rows as before, or opening the log would tell.
            try write.put(store.events, key: elsewhere.span, value: [1].span.rawBytes)
        }
        #expect(try read(log, from: 501) == Array(501...1_000))
        #expect(try log.events(in: EventSequence(1)...EventSequence(499)).count == 499)
        #expect(try log.events(in: EventSequence(501)...EventSequence(1_000), reversed: true).count == 500)
        #expect(try log.events(in: EventSequence(1)...EventSequence(1_000), limit: 499).count == 499)
        let readings: [() throws -> Void] = [
            { _ = try read(log, from: 1) }, { _ = try read(log, from: 500) },
            { _ = try log.events(in: EventSequence(400)...EventSequence(600)) },
            { _ = try log.events(in: EventSequence(400)...EventSequence(600), reversed: true) },
            { _ = try log.events(in: EventSequence(400)...EventSequence(500)) },
            { _ = try log.events(in: EventSequence(500)...EventSequence(600), reversed: true) },
        ]
        for reading in readings {
            let error = #expect(throws: EventLogError.self) { try reading() }
            #expect(error?.code == .corrupt && error?.detail?.contains("event 500 ") == true)
        }
        #expect(try read(log, from: 1_001).isEmpty)
        await log.close()
    }

    @Test(arguments: [1_001 + 1, 1 << 40, .max - 300, .max - 1] as [UInt64])
    func `X8: a last event that cannot be there ends questions with an error, of an open log, too`(last: UInt64) async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger")
        try await appendNumbered(log, 1_000)
        let time = try #require(try log.event(EventSequence(900))).header.arrivalTime
        // What a flipped bit in a page does to a log that is open already.
        try log.store.environment.write { write throws(StorageError) in
            let key = SequenceKey(last)
            try write.put(log.store.events, key: key.span, value: [1].span.rawBytes)
        }
        let questions: [() throws -> Void] = [
            { _ = try log.retentionPlan(olderThan: time, largerThan: nil) },
            { _ = try log.retentionPlan(olderThan: nil, largerThan: 4_096) }, { _ = try log.sealingStatistics() },
            { _ = try log.lastSequence(arrivedBy: time) }, { _ = try log.firstSequence(arrivedFrom: time) },
            { _ = try read(log, from: 1) }, { _ = try log.root(size: EventSequence(1_000)) }, { _ = try log.verify() },
        ]
        for question in questions {
            let error = #expect(throws: EventLogError.self) { try question() }
            #expect(error?.code == .corrupt)
        }
        await log.close()
        #expect(throws: EventLogError.self) { try EventLog.open(at: folder.path + "/ledger") }
    }
}
