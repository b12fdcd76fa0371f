import Foundation
import TestKit
import Testing

@testable import EventLog
@testable import LogTransfer

@Suite(.timeLimit(.minutes(40))) struct CutBackupTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var backup: String { folder.path + "/backup" }
    var path: String { folder.path + "/ledger" }
    private let withKey = BackupOptions(includesSigningKey: true)

    private func restored(_ name: String, until end: RestoreEnd? = nil) async throws -> EventLog {
        let place = folder.path + "/" + name
        _ = try await EventLog.restore(backup, to: place, until: end)
        return try EventLog.open(at: place)
    }

    /// A baseline as a view would leave it.
    private func baseline(_ last: UInt64, _ text: String) throws -> Retention.Baseline {
        let place = path + "/baselines/\(last)/nodes"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: place + "/data.mdb"))
        let digest = try hash(text)
        return Retention.Baseline(view: "nodes", recipe: "v1", digest: BackupManifest.bytes(digest) ?? [])
    }

    private func hash(_ text: String) throws -> String {
        let file = folder.file("hashed")
        try Data(text.utf8).write(to: file)
        return try BackupFolder.hash(file.path).hash
    }

    private func expectSame(_ copy: EventLog, _ log: EventLog) throws {
        #expect(copy.identifier == log.identifier && copy.head == log.head && copy.first == log.first)
        #expect(try copy.root(size: copy.head) == log.root(size: log.head))
        #expect(try copy.sources() == log.sources())
        #expect(try content(copy) == content(log))
        #expect(try copy.retention()?.retention == log.retention()?.retention)
        #expect(try copy.retention()?.event == log.retention()?.event)
        #expect(try copy.verify().problems == [])
    }

    @Test func `the first backup of a cut ledger gives the same cut ledger, for which old checkpoints hold`() async throws {
        let log = try EventLog.create(at: path)
        var checkpoints: [LogCheckpoint] = []
        for seed in 1...4 as ClosedRange<UInt64> {
            try await fill(log, 5_123, seed: seed)
            checkpoints.append(try #require(LogCheckpoint(log.checkpoint())))
        }
        let consumer = try log.consumer(named: "analytics", from: .sequence(EventSequence(19_001)))
        consumer.close()
        try Data("older-than-seconds 86400\n".utf8).write(to: URL(fileURLWithPath: path + "/retention"))
        try await log.cut(through: EventSequence(18_176), baselines: [baseline(18_176, "rows")])
        let report = try log.backup(to: backup, options: withKey)
        #expect(report.eventCount == log.head.rawValue - 18_176 && report.missingBaselines == [])
        let contents = try EventLog.checkBackup(backup)
        #expect(contents.first == EventSequence(18_177) && contents.fileCount == 7)
        let copy = try await restored("copy")
        try expectSame(copy, log)
        for checkpoint in checkpoints { #expect(try copy.verify(extending: checkpoint).problems == []) }
        #expect(try copy.consumers().map(\.position) == [EventSequence(19_000)])
        for file in ["retention", "checkpoints", "baselines/18176/nodes/data.mdb"] {
            #expect(
                FileManager.default.contents(atPath: copy.path + "/" + file)
                    == FileManager.default.contents(atPath: path + "/" + file))
        }
        try await fill(copy, 10, seed: 2)
        try await copy.cut(through: EventSequence(18_432))
        #expect(try copy.verify(extending: checkpoints[3]).problems == [])
        await log.close()
        await copy.close()
    }

    @Test func `of a cut ledger that was restored without its key, old checkpoints hold under the old key`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 5_123, seed: 1)
        let (checkpoint, key) = (try #require(LogCheckpoint(log.checkpoint())), try log.verifier())
        try await log.cut(through: EventSequence(2_560), baselines: [baseline(2_560, "rows")])
        try log.backup(to: backup)
        let copy = try await restored("copy")
        #expect(try copy.verifier() != key)
        #expect(try copy.retention()?.retention.isSigned(by: key) == false)
        #expect(try copy.verify().problems == [])
        #expect(try copy.verify(extending: checkpoint, signedBy: key).problems == [])
        // Other baselines than the old key signed are not those of the ledger.
        var words = try #require(try copy.retention()).retention
        (words.count, words.baselines) = (0, [Retention.Baseline(view: "nodes", recipe: "other", digest: [1])])
        try copy.record(words, checksum: try #require(try copy.checksum(of: EventSequence(2_560))))
        #expect(try copy.verify().problems == [])
        #expect(
            try copy.verify(extending: checkpoint, signedBy: key).problems.map(\.text).contains { $0.contains("is not signed") })
        await log.close()
        await copy.close()
    }

    @Test func `what an exact copy erased although no event names it leaves the backup`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 17_000, seed: 1)
        try log.backup(to: backup)
        try await log.erase([EventSequence(16_900)...EventSequence(16_900)], reason: "asked for")
        let own = try #require(
            try log.events(in: EventSequence(5)...EventSequence(50)).first { $0.header.source != .log && $0.payload.count > 8 })
        #expect(try await log.eraseImplied([own.sequence...own.sequence]) == 1)
        #expect(try await log.eraseImplied([own.sequence...own.sequence]) == 0)
        #expect(try log.event(own.sequence)?.header.isErased == true && log.verify().problems == [])
        #expect(try log.backup(to: backup).rewrittenParts == 1)
        let copy = try await restored("copy")
        #expect(try copy.event(own.sequence)?.header.isErased == true && copy.verify().problems == [])
        await copy.close()
        await log.close()
    }

    @Test func `dropped events leave the backup when rows of them are erased`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 1_000, seed: 1)
        try log.backup(to: backup)
        try await log.cut(through: EventSequence(512), baselines: [baseline(512, "rows")])
        #expect(try log.backup(to: backup).gaveUpThrough == nil)
        try await log.erase([], reason: "asked for", request: "packet 7", baselines: [baseline(512, "fewer rows")])
        #expect(try log.backup(to: backup).gaveUpThrough == EventSequence(512))
        #expect(try EventLog.checkBackup(backup).first == EventSequence(513))
        #expect(try log.backup(to: backup).gaveUpThrough == nil)
        await log.close()
    }

    @Test func `a backup that goes on after a cut has the state after it, and those before`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 20_000, seed: 1)
        try log.backup(to: backup, options: withKey)
        try await log.cut(through: EventSequence(17_920), baselines: [baseline(17_920, "first")])
        try await fill(log, 15_000, seed: 2)
        try log.backup(to: backup, options: withKey)
        let between = try await restored("between")
        try expectSame(between, log)
        let middle = log.head
        try await log.cut(through: EventSequence(25_600), baselines: [baseline(25_600, "second")])
        try FileManager.default.removeItem(atPath: path + "/baselines/17920")
        try await fill(log, 5_000, seed: 3)
        #expect(try log.backup(to: backup, options: withKey).eventCount == log.head.rawValue)
        #expect(try EventLog.checkBackup(backup).first == EventSequence(1))
        let copy = try await restored("copy")
        try expectSame(copy, log)
        #expect(try String(contentsOfFile: copy.path + "/baselines/25600/nodes/data.mdb", encoding: .utf8) == "second")
        #expect(!FileManager.default.fileExists(atPath: copy.path + "/baselines/17920"))
        let earlier = try await restored("earlier", until: .sequence(middle))
        try expectSame(earlier, between)
        #expect(try String(contentsOfFile: earlier.path + "/baselines/17920/nodes/data.mdb", encoding: .utf8) == "first")
        let before = try await restored("before", until: .sequence(EventSequence(18_000)))
        #expect(before.first == EventSequence(1) && before.head == EventSequence(18_000))
        #expect(
            try before.verify().problems == []
                && before.root(size: EventSequence(17_920)) == log.root(size: EventSequence(17_920)))
        for log in [log, between, copy, earlier, before] { await log.close() }
    }

    @Test func `where a cut goes beyond the backup, it begins again, and states before the cut are refused`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 3_000, seed: 1)
        try log.backup(to: backup, options: withKey)
        try await fill(log, 3_000, seed: 2)
        try await log.cut(through: EventSequence(4_096), baselines: [baseline(4_096, "rows")])
        try log.backup(to: backup, options: withKey)
        let copy = try await restored("copy")
        try expectSame(copy, log)
        let error = await #expect(throws: EventLogError.self) {
            try await restored("early", until: .sequence(EventSequence(5_000)))
        }
        #expect(error?.code == .beyondRetention)
        await log.close()
        await copy.close()
    }

    @Test func `a backup that was made without the signing key goes on after a cut, too`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 700, seed: 1)
        let key = LogFolder(path: path).signingKeyPath
        let bytes = try Data(contentsOf: URL(fileURLWithPath: key))
        try FileManager.default.removeItem(atPath: key)
        #expect(try log.backup(to: backup).checkpoint == nil)
        try bytes.write(to: URL(fileURLWithPath: key))
        try await fill(log, 700, seed: 2)
        try await log.cut(through: EventSequence(1_024))
        let report = try log.backup(to: backup, options: withKey)
        #expect(report.checkpoint != nil)
        let copy = try await restored("copy")
        try expectSame(copy, log)
        await log.close()
        await copy.close()
    }

    @Test func `an erasure makes a backup forget the dropped events that it cannot write again`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 20_000, seed: 1)
        try log.backup(to: backup, options: withKey)
        try await log.cut(through: EventSequence(17_920), baselines: [baseline(17_920, "rows")])
        let place = try #require(
            log.events(in: EventSequence(18_001)...EventSequence(18_100)).first { $0.header.source != .log }?.sequence)
        try await log.erase([place...place], reason: "asked for")
        try await fill(log, 20_000, seed: 2)
        try log.backup(to: backup, options: withKey)
        #expect(try EventLog.checkBackup(backup).first == EventSequence(17_921))
        let copy = try await restored("copy")
        try expectSame(copy, log)
        #expect(try copy.event(place)?.header.isErased == true)
        await log.close()
        await copy.close()
    }

    @Test func `where dropped events came from comes along, so that importing them again adds nothing`() async throws {
        let other = try EventLog.create(at: folder.path + "/other")
        try await fill(other, 3_000, seed: 7)
        let file = folder.path + "/recording"
        try other.record(to: file)
        let log = try EventLog.create(at: path)
        try await fill(log, 100, seed: 1)
        #expect(try await log.importRecording(file).added == 3_000)
        try await log.cut(through: EventSequence(1_024))
        try log.backup(to: backup, options: withKey)
        let copy = try await restored("copy")
        try expectSame(copy, log)
        #expect(try await copy.importRecording(file).added == 0)
        for log in [log, other, copy] { await log.close() }
    }

    @Test func `without the signing key the restored ledger says itself what was dropped`() async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 3_000, seed: 1)
        let cut = try await log.cut(through: EventSequence(1_024), baselines: [baseline(1_024, "rows")])
        try log.backup(to: backup)
        let copy = try await restored("copy")
        #expect(copy.head.rawValue == log.head.rawValue + 1)
        #expect(try copy.verify().problems == [])
        #expect(try copy.retention()?.retention.baselines == cut.retention.baselines)
        await log.close()
        await copy.close()
    }

    @Test(arguments: ["baselines/1024/nodes/data.mdb", "dropped/tiles", "dropped/nodes", "dropped/origins", "retention"])
    func `every file of the backup is checked, and a damaged one is named`(name: String) async throws {
        let log = try EventLog.create(at: path)
        try await fill(log, 700, seed: 1)
        _ = try log.checkpoint()
        try await fill(log, 2_000, seed: 2)
        try Data("larger-than-bytes 1000000\n".utf8).write(to: URL(fileURLWithPath: path + "/retention"))
        try await log.cut(through: EventSequence(1_024), baselines: [baseline(1_024, "rows")])
        try log.backup(to: backup, options: withKey)
        let folder = BackupFolder(path: backup)
        let file = try #require(try folder.requiredManifest().file(name))
        try Data("changed".utf8).write(to: URL(fileURLWithPath: folder.path(of: file)))
        var error = #expect(throws: EventLogError.self) { try EventLog.checkBackup(backup) }
        #expect(error?.code == .corrupt && error?.description.contains(name) == true)
        error = await #expect(throws: EventLogError.self) { try await restored("copy") }
        #expect(error?.code == .corrupt)
        #expect(!FileManager.default.fileExists(atPath: self.folder.path + "/copy"))
        await log.close()
    }

    @Test func `a list that leads out of the ledger's folder is refused`() throws {
        for path in ["../other", "/etc/x", "a/../b", "a//b", ".hidden", "a b", ""] {
            #expect(!BackupManifest.File.isPlain(path[...]), "\(path)")
        }
        #expect(BackupManifest.File.isPlain("baselines/1024/nodes/data.mdb"))
    }
}
