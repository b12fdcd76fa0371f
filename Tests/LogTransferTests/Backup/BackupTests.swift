import EventLog
import Foundation
import LogKit
import LogTransfer
import TestKit
import Testing

@Suite(.timeLimit(.minutes(40))) struct BackupTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var backup: String { folder.path + "/backup" }
    var path: String { folder.path + "/ledger" }

    func parts() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: backup + "/parts").sorted() }

    func restored(_ name: String, until end: RestoreEnd? = nil, erasures: [Erasure] = []) async throws -> EventLog {
        let place = folder.path + "/" + name
        _ = try await EventLog.restore(backup, to: place, until: end, erasures: erasures)
        return try EventLog.open(at: place)
    }

    @Test func `G26: a restored log is the one that was backed up, and checkpoints of that hold for it`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 40_000, seed: 1)
        try await log.append([], cursor: SourceCursor(key: "file", value: [7]))
        let report = try log.backup(to: backup)
        #expect(report.eventCount == 40_000 && report.written == 40_000)
        #expect(try parts().count == 3)
        let copy = try await restored("copy")
        #expect(copy.identifier == log.identifier && copy.head == log.head)
        #expect(try copy.root(size: copy.head) == log.root(size: log.head))
        #expect(try copy.sources() == log.sources() && copy.cursor("file") == [7])
        #expect(try content(copy) == content(log))
        let checkpoint = try #require(LogCheckpoint(try log.checkpoint()))
        #expect(try copy.verify(extending: checkpoint).isIntact)
        #expect(try copy.origin(of: EventSequence(9)).ledger == log.identifier)
        try await fill(copy, 10, seed: 2)
        await log.close()
        await copy.close()
    }

    @Test func `a later run writes only what is new, beside a writer and from another handle`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 20_000, seed: 1)
        try log.backup(to: backup)
        let before = try parts()
        try await fill(log, 20_000, seed: 2)
        let report = try log.backup(to: backup)
        #expect(report.written == 40_000 - 16_384)
        #expect(try parts().count == 3 && parts()[0] == before[0] && !parts().contains(before[1]))
        #expect(try log.backup(to: backup).written == 40_000 - 2 * 16_384)
        #expect(try EventLog.checkBackup(backup).eventCount == 40_000)
        let copy = try await restored("copy")
        #expect(try content(copy) == content(log))
        await log.close()
        await copy.close()
    }

    @Test func `an earlier state can be restored, by sequence and by time`() async throws {
        let clock = ManualClock(Timestamp(seconds: 1_760_000_000))
        let log = try EventLog.create(at: path, options: EventLogOptions(clock: clock.read))
        for _ in 0..<30 {
            try await appendNumbered(log, 600)
            clock.advance(seconds: 60)
        }
        try log.backup(to: backup)
        let copy = try await restored("copy", until: .sequence(EventSequence(16_400)))
        #expect(copy.head == EventSequence(16_400))
        #expect(try copy.root(size: copy.head) == log.root(size: copy.head))
        let event = try log.event(EventSequence(1200))
        let time = try #require(event?.header.arrivalTime)
        let other = try await restored("other", until: .time(time))
        #expect(other.head == EventSequence(1200))
        for end in [RestoreEnd.time(Timestamp(microseconds: 0)), .sequence(EventSequence(18_001))] {
            let error = await #expect(throws: EventLogError.self) { try await restored("none", until: end) }
            #expect(error?.code == .tooFewEvents)
            let range = "events 1 to 18000, which arrived from 2025-10-09T08:53:20Z to 2025-10-09T09:22:20Z"
            #expect(error?.description.contains(range) == true, "\(String(describing: error))")
        }
        for log in [log, copy, other] { await log.close() }
    }

    @Test func `erased bytes leave the backup with the next run, and stay erased whatever is restored`() async throws {
        let log = try EventLog.create(at: path)
        let source = try await log.source(named: "radio")
        let secret = Array("this was said in private".utf8)
        try await fill(log, 20_000, seed: 1)
        let place = try await log.append(NewEvent(secret, encoding: .note, source: source))
        try await fill(log, 20_000, seed: 2)
        try log.backup(to: backup)
        let old = folder.path + "/old-backup"
        try FileManager.default.copyItem(atPath: backup, toPath: old)
        let untouched = try parts()[0]
        let (checkpoint, key) = (try #require(LogCheckpoint(log.checkpoint())), try log.verifier())
        try await log.erase([place...place], reason: "asked for")
        let report = try log.backup(to: backup)
        #expect(report.rewrittenParts == 1)
        #expect(try parts()[0] == untouched && EventLog.checkBackup(backup).eventCount == 40_002)
        let (whole, earlier) = (try await restored("whole"), try await restored("earlier", until: .sequence(place)))
        for copy in [whole, earlier] {
            #expect(try copy.event(place)?.header.isErased == true)
            #expect(try copy.root(size: place) == log.root(size: place))
            #expect(try copy.verify().isIntact)
        }
        // And from a backup of before, with what was erased since.
        let erasures = try log.erasures()
        let late = folder.path + "/late"
        #expect(try await EventLog.restore(old, to: late, erasures: erasures).erased == 1)
        let copy = try EventLog.open(at: late)
        #expect(try copy.event(place)?.header.isErased == true && copy.verify().isIntact)
        // Without the key of the ledger nobody can tell it from a forged erasure.
        let found = try copy.verify(extending: checkpoint, signedBy: key).problems
        #expect(found.count == 1 && found.allSatisfy { $0.text.contains("the ledger was restored without its key") })
        for log in [log, whole, earlier, copy] { await log.close() }
    }

    @Test func `what an interrupted run leaves harms nothing, and damage is named`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 17_000, seed: 1)
        try log.backup(to: backup)
        let manifest = try Data(contentsOf: URL(fileURLWithPath: backup + "/manifest"))
        try await fill(log, 20_000, seed: 2)
        // Stopped before the end: the backup is the one before.
        #expect(throws: EventLogError.self) { try log.backup(to: backup) { $0.done < 20_000 } }
        try Data("cut".utf8).write(to: URL(fileURLWithPath: backup + "/parts/unfinished"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup + "/manifest")) == manifest)
        #expect(try EventLog.checkBackup(backup).eventCount == 17_000)
        try log.backup(to: backup)
        #expect(try parts().count == 3 && EventLog.checkBackup(backup).eventCount == 37_000)
        let part = URL(fileURLWithPath: backup + "/parts/" + (try parts()[1]))
        var data = try Data(contentsOf: part)
        data[data.count / 2] ^= 4
        try data.write(to: part)
        var error = #expect(throws: EventLogError.self) { try EventLog.checkBackup(backup) }
        #expect(error?.code == .corrupt && error?.path == part.path && error?.detail?.contains("not match its hash") == true)
        error = await #expect(throws: EventLogError.self) { try await restored("copy") }
        #expect(error?.code == .corrupt)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["backup", "ledger"])
        try FileManager.default.removeItem(at: part)
        try log.backup(to: backup)
        #expect(try EventLog.checkBackup(backup).eventCount == 37_000)
        await log.close()
    }

    @Test func `a folder with something else, another ledger's backup and another history are refused`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 300, seed: 1)
        try log.backup(to: backup)
        let other = try EventLog.temporary()
        var error = #expect(throws: EventLogError.self) { try other.backup(to: backup) }
        #expect(error?.code == .exists)
        try FileManager.default.createDirectory(atPath: folder.path + "/else/deep", withIntermediateDirectories: true)
        error = #expect(throws: EventLogError.self) { try log.backup(to: folder.path + "/else") }
        #expect(error?.code == .exists)
        error = await #expect(throws: EventLogError.self) { try await EventLog.restore(backup, to: path) }
        #expect(error?.code == .exists)
        error = #expect(throws: EventLogError.self) { try EventLog.checkBackup(folder.path + "/else") }
        #expect(error?.code == .notABackup)
        // A state before the backup went on by itself.
        let early = try await restored("early", until: .sequence(EventSequence(100)))
        error = #expect(throws: EventLogError.self) { try early.backup(to: backup) }
        #expect(error?.code == .forked)
        try await fill(early, 300, seed: 5)
        error = #expect(throws: EventLogError.self) { try early.backup(to: backup) }
        #expect(error?.code == .forked)
        for log in [log, other, early] { await log.close() }
    }

    @Test func `consumers of events come along, and those of views begin with the rows`() async throws {
        let log = try EventLog.create(at: path)
        try await appendNumbered(log, 20)
        let consumer = try log.consumer(named: "events")
        let given = try consumer.available(limit: 7)
        try consumer.acknowledge(through: try #require(given.last).sequence)
        let position = consumer.position
        consumer.close()
        let lease = try ConsumerLease("map", in: path)
        try lease.store("view positions feed 5 number 12\n")
        lease.release()
        try log.backup(to: backup)
        await log.close()
        let again = try await restored("again")
        #expect(try again.consumers().map(\.position) == [position] && position > .zero)
        #expect(try ConsumerLease.all(in: again.path).map(\.text) == ["view positions rows\n"])
        await again.close()
    }
}
