import Foundation
import LMDB
import LogKit
import TestKit
import Testing

@testable import EventLog
@testable import LogTransfer

@Suite(.timeLimit(.minutes(40))) struct SalvagedOrigins {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path + "/ledger" }
    private var recording: String { folder.path + "/recording" }

    /// A ledger with 3,000 copies among its own events.
    private func damagedLedger(_ other: EventLog) async throws -> EventLog {
        try await fill(other, 3_000, seed: 7)
        try other.record(to: recording)
        let log = try EventLog.create(at: path)
        try await fill(log, 700, seed: 1)
        #expect(try await log.importRecording(recording).added == 3_000)
        try await fill(log, 700, seed: 2)
        return log
    }

    @Test func `a salvaged log knows where its events come from, so that importing and merging add nothing twice`() async throws {
        let other = try EventLog.create(at: folder.path + "/other")
        let log = try await damagedLedger(other)
        let origins = try (1...log.head.rawValue).map { try log.origin(of: EventSequence($0)) }
        let own = log.identifier
        await log.close()
        let report = try await EventLog.salvage(path, to: folder.path + "/new")
        #expect(report.isComplete && report.origins == 3_000 && report.lostOrigins == 0 && report.hasAllOrigins)
        let new = try EventLog.open(at: folder.path + "/new")
        for (place, origin) in origins.enumerated() {
            let found = try new.origin(of: EventSequence(UInt64(place) + 1))
            #expect(found.sequence == origin.sequence && found.ledger == (origin.ledger == own ? new.identifier : origin.ledger))
        }
        #expect(try new.verify().problems == [])
        #expect(try await new.importRecording(recording).added == 0)
        let merged = try await EventLog.merge([new, other], into: folder.path + "/merged")
        #expect(merged.eventCount == new.head.rawValue && merged.duplicates == 3_000)
        await new.close()
        await other.close()
    }

    @Test func `an event that is lost has no origin any more: importing again brings it back, and nothing else`() async throws {
        let other = try EventLog.create(at: folder.path + "/other")
        let log = try await damagedLedger(other)
        let event = try #require(try log.event(EventSequence(1_500)))
        let origin = try log.origin(of: EventSequence(1_500))
        await log.close()
        let file = LogFiles(path: path).data
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let place = try #require(bytes.range(of: Data(event.payload)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: URL(fileURLWithPath: file))
        let report = try await EventLog.salvage(path, to: folder.path + "/new")
        #expect(report == (try EventLog.survey(path)))
        #expect(report.missing == 1 && report.origins == 2_999 && report.lostOrigins == 0)
        let new = try EventLog.open(at: folder.path + "/new")
        #expect(try new.verify().problems == [])
        #expect(try new.origin(of: EventSequence(1_500)).ledger == new.identifier)
        #expect(try await new.importRecording(recording).added == 1)
        #expect(try new.origin(of: new.head) == origin)
        await new.close()
        await other.close()
    }

    @Test func `a salt that is not the tree's takes the origins of its tile away, and the report says so`() async throws {
        let other = try EventLog.create(at: folder.path + "/other")
        let log = try await damagedLedger(other)
        let salts = try storing { () throws(StorageError) in
            let read = try log.store.environment.beginRead()
            return try log.store.salts(ofTile: 8, read).stored
        }
        await log.close()
        let file = LogFiles(path: path).data
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let place = try #require(bytes.range(of: Data(salts)))
        bytes[place.lowerBound + 77] ^= 1
        try bytes.write(to: URL(fileURLWithPath: file))
        let report = try await EventLog.salvage(path, to: folder.path + "/new")
        #expect(report.missing == 0 && report.lostOrigins == 256 && report.origins == 3_000 - 256 && !report.isComplete)
        let new = try EventLog.open(at: folder.path + "/new")
        #expect(try new.verify().problems == [])
        let merged = try await EventLog.merge([new, other], into: folder.path + "/merged")
        #expect(merged.duplicates == 3_000 - 256)
        await new.close()
        await other.close()
    }
}
