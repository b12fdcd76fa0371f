import EventLog
import Foundation
import TestKit
import Testing

@testable import LogTransfer

/// Backups whose folder another user replaces by a link to a folder of a third one.
@Suite(.enabled(if: geteuid() == 0, "only the superuser can give links away")) struct LinkedBackups {
    private let folder: TemporaryFolder
    private var backup: String { folder.path + "/backup" }
    private var outside: String { folder.path + "/outside" }

    init() throws {
        folder = try TemporaryFolder()
        for place in ["/parts", "/files"] {
            for above in [backup, outside] {
                try FileManager.default.createDirectory(atPath: above + place, withIntermediateDirectories: true)
            }
            try Data([1]).write(to: URL(fileURLWithPath: outside + place + "/unfinished"))
        }
    }

    private func replaceFolder() throws {
        try FileManager.default.moveItem(atPath: backup, toPath: backup + ".old")
        try TemporaryFolder.link(ofOtherUserAt: backup, to: outside)
    }

    private func expectAllOutside() throws {
        for place in ["/parts", "/files"] {
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside + place) == ["unfinished"])
        }
    }

    @Test func `no leftover is removed behind the link`() throws {
        try replaceFolder()
        BackupFolder(path: backup).removeLeftovers(
            BackupManifest(ledger: "", created: .now, time: .now, size: 0, root: "", erasedThrough: 0))
        try expectAllOutside()
    }

    @Test func `no file behind the link gets the name of what was written`() throws {
        var writer = try BackupFileWriter(BackupFolder(path: backup))
        try writer.write([2])
        try replaceFolder()
        #expect(throws: EventLogError.self) { try writer.finish(as: "keys.json") }
        try expectAllOutside()
    }
}
