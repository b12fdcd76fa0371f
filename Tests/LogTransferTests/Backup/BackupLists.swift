import EventLog
import Foundation
import LogKit
import LogTransfer
import TestKit
import Testing

/// What the list of a backup says about the log.
struct BackupLists {
    @Test func `a backup says when its log was created, and a restored log keeps that`() async throws {
        let folder = try TemporaryFolder()
        let created = Timestamp(microseconds: 1_700_000_000_123_456)
        func list(_ log: EventLog, _ name: String) async throws -> String {
            try log.backup(to: folder.path + "/" + name)
            await log.close()
            return try String(contentsOfFile: folder.path + "/\(name)/manifest", encoding: .utf8)
        }
        var options = EventLogOptions()
        options.clock = { created }
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        try await fill(log, 10, seed: 1)
        #expect(try await list(log, "backup").contains("\ncreated \(created.microseconds)\n"))
        _ = try await EventLog.restore(folder.path + "/backup", to: folder.path + "/copy")
        #expect(try await list(EventLog.open(at: folder.path + "/copy"), "again").contains("\ncreated \(created.microseconds)\n"))
    }

    @Test func `a backup whose list of erasures is damaged is not whole`() async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.temporary()
        try await fill(log, 300, seed: 1)
        let some = try #require(try log.events(in: EventSequence(1)...EventSequence(300)).first { $0.header.source != .log })
        try await log.erase([some.sequence...some.sequence], reason: "asked for")
        let backup = folder.path + "/backup"
        try log.backup(to: backup)
        _ = try EventLog.checkBackup(backup)
        try Data("[{".utf8).write(to: URL(fileURLWithPath: backup + "/erasures.json"))
        let error = #expect(throws: EventLogError.self) { try EventLog.checkBackup(backup) }
        #expect(error?.code == .corrupt && error?.path.hasSuffix("erasures.json") == true)
        #expect(error.map { "\($0)" }?.contains("run `meshledger backup` again") == true, "\(error as Any)")
        await log.close()
    }
}
