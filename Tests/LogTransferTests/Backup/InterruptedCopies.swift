import Foundation
import LMDB
import TestKit
import Testing

@testable import EventLog
@testable import LogTransfer

/// Imports of recordings with erased events that end anywhere.
@Suite(.timeLimit(.minutes(40))) struct InterruptedCopies {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func recording() async throws -> String {
        let log = try EventLog.create(at: folder.path + "/ledger")
        let source = try await log.source(named: "radio")
        var places: [ClosedRange<EventSequence>] = []
        for number in 0..<40_000 as Range<Int> where number % 8_000 == 0 {
            try await fill(log, 7_999, seed: UInt64(number))
            let place = try await log.append(NewEvent(Array("secret \(number)".utf8), encoding: .note, source: source))
            places.append(place...place)
        }
        try await log.erase(places, reason: "asked for")
        try log.record(to: folder.path + "/recording")
        await log.close()
        return folder.path + "/recording"
    }

    @Test(arguments: [false, true]) func `wherever an import ends, no erased event lacks what says so`(isEmpty: Bool) async throws
    {
        let file = try await recording()
        let path = folder.path + "/new"
        var log = try EventLog.create(at: path)
        if !isEmpty { try await fill(log, 300, seed: 1) }
        var interruptions = 0
        var last: UInt64 = 0
        while true {
            let limit = last + 9_000
            do {
                _ = try await log.importRecording(file) { $0.done < limit }
                break
            } catch {
                guard error.code == .closed else { throw error }
            }
            last = limit
            interruptions += 1
            await log.close()
            log = try EventLog.open(at: path)
            #expect(try log.verify().problems == [], "after \(limit) events")
        }
        #expect(interruptions >= 4)
        #expect(try log.verify().problems == [])
        #expect(try log.unrecordedErasures().isEmpty)
        #expect(try SequenceSet(log.erasures().flatMap { SequenceSet($0.ranges).ranges }).count >= 5)
        await log.close()
    }

    @Test func `what is salvaged of an interrupted import says what is erased`() async throws {
        let file = try await recording()
        let path = folder.path + "/new"
        let log = try EventLog.create(at: path)
        _ = try? await log.importRecording(file) { $0.done < 20_000 }  // it is stopped there
        let unrecorded = try log.unrecordedErasures()
        #expect(!unrecorded.isEmpty)
        await log.close()
        _ = try await EventLog.salvage(path, to: folder.path + "/saved")
        let saved = try EventLog.open(at: folder.path + "/saved")
        #expect(try saved.verify().problems == [])
        #expect(try unrecorded.subtracting(SequenceSet(saved.erasures().flatMap { SequenceSet($0.ranges).ranges })).isEmpty)
        await saved.close()
    }

    @Test func `what an interrupted import left is found out where another key signed it`() async throws {
        let file = try await recording()
        let path = folder.path + "/new"
        var log = try EventLog.create(at: path)
        _ = try? await log.importRecording(file) { $0.done < 20_000 }  // it is stopped there
        #expect(try !log.unrecordedErasures().isEmpty)
        let row = try ErasureSignature.sign(
            Erasure(ranges: [EventSequence(1)...EventSequence(30_000)], reason: "", request: "", root: [], log: "").payload,
            by: EventLog.temporary().signer())
        try storing { () throws(StorageError) in
            try log.store.environment.write { (write) throws(StorageError) in
                try write.put(Table<String, [UInt8]>(raw: log.store.meta), UnrecordedErasures.key, row)
            }
        }
        await log.close()
        log = try EventLog.open(at: path)
        #expect(try log.verify().problems.map(\.text).contains { $0.contains("not signed by the ledger's key") })
        await log.close()
    }
}
