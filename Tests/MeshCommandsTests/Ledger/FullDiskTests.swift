import Foundation
import TestKit
import Testing

/// A small file system of its own for each test, mounted in memory: only root may do that.
@Suite(.enabled(if: Tool.isBuilt && getuid() == 0, "needs the built command, and root to mount a small file system"))
struct FullDiskTests {
    private func run(_ program: String, _ arguments: String...) throws {
        try Program.run(URL(fileURLWithPath: program), arguments)
    }

    @Test func `D9: a full disk gives one line, and after there is room again nothing is missing`() throws {
        let tool = try Tool()
        let disk = tool.folder.file("disk").path
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try run("/bin/mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk)
        defer { try? run("/bin/umount", "-l", disk) }
        let environment = ["MESHLEDGER": disk + "/mesh.ledger"]
        let capture = tool.folder.file("capture.base64").path
        #expect(
            try tool.run("simulate", "--nodes", "50", "--packets", "20000", "--bad", "0", "--to", capture, "--as", "envelopes")
                .status == 0)
        #expect(try tool.run("init", environment: environment).status == 0)

        let full = try tool.run("import", capture, environment: environment)
        #expect(full.status == 74, "\(full.errors)")
        #expect(full.errors.filter(\.isNewline).count == 1, "\(full.errors)")
        #expect(full.errors.contains("free some space"), "\(full.errors)")
        let stored = try events(tool, environment)
        #expect(stored > 0 && stored < 20_000)

        try run("/bin/mount", "-o", "remount,size=200m", disk)
        let again = try tool.run("import", capture, environment: environment)
        #expect(again.status == 0, "\(again.errors)")
        #expect(try events(tool, environment) == 20_000)
        let verified = try tool.run("verify", environment: environment)
        #expect(verified.status == 0, "\(verified.errors)")
        #expect(verified.output.contains("20,000 events"))
    }

    @Test func `D9: what rewrites the log reports the full disk, too, and is finished when there is room`() throws {
        let tool = try Tool()
        let disk = tool.folder.file("disk").path
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try run("/bin/mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk)
        defer { try? run("/bin/umount", "-l", disk) }
        let environment = ["MESHLEDGER": disk + "/mesh.ledger"]
        #expect(try tool.run("init", environment: environment).status == 0)
        let full = try tool.run("simulate", "--nodes", "50", "--packets", "20000", environment: environment)
        #expect(full.status == 74, "\(full)")
        let stored = try events(tool, environment)
        for command in [
            ["seal"], ["compact"], ["erase", "--sequence", "5", "--yes"], ["retain", "--larger-than", "100kB", "--yes"],
        ] {
            let refused = try tool.start(command, environment: environment).wait()
            #expect(refused.status == 74 && refused.errors.contains("free some space"), "\(command) \(refused)")
            #expect(refused.errors.filter(\.isNewline).count == 1, "\(command) \(refused.errors)")
        }
        #expect(try events(tool, environment) >= stored)

        try run("/bin/mount", "-o", "remount,size=200m", disk)
        #expect(try tool.run("compact", environment: environment).status == 0)
        let verified = try tool.run("verify", environment: environment)
        #expect(verified.status == 0, "\(verified)")
        #expect(try tool.run("nodes", "--limit", "1", environment: environment).status == 0)
    }

    @Test func `D9: a full disk is reported as one, also where keys are stored, and a failed init or salvage leaves nothing`()
        throws
    {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--nodes", "50", "--packets", "5000")
        let disk = tool.folder.file("disk").path
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try run("/bin/mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk)
        defer { try? run("/bin/umount", "-l", disk) }
        func requireFull(_ outcome: Tool.Outcome, _ what: String) {
            #expect(outcome.status == 74 && outcome.errors.contains("free some space"), "\(what): \(outcome)")
            #expect(
                outcome.errors.filter(\.isNewline).count == 1 && !outcome.errors.contains("Error Domain"), "\(outcome.errors)")
        }
        requireFull(try tool.run("salvage", tool.ledger, disk + "/saved"), "salvage")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == [])
        let filler = try #require(FileHandle(forWritingAtPath: disk + "/filler") ?? Self.made(disk + "/filler"))
        try filler.write(contentsOf: Data(count: 262_144 - 16_384))
        requireFull(try tool.run("init", "--ledger", disk + "/new"), "init")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == ["filler"])

        try run("/bin/mount", "-o", "remount,size=40m", disk)
        try FileManager.default.copyItem(atPath: tool.ledger, toPath: disk + "/mesh.ledger")
        #expect(try tool.run("keys", "add", "Harbour", "--psk", "AQ==", "--ledger", disk + "/mesh.ledger").status == 0)
        while (try? filler.write(contentsOf: Data(count: 4_096))) != nil {}  // until there is no room
        requireFull(try tool.run("keys", "add", "Quay", "--psk", "AQ==", "--ledger", disk + "/mesh.ledger"), "keys")
    }

    private static func made(_ path: String) -> FileHandle? {
        FileManager.default.createFile(atPath: path, contents: nil) ? FileHandle(forWritingAtPath: path) : nil
    }

    /// The head, from the log alone.
    private func events(_ tool: Tool, _ environment: [String: String]) throws -> Int {
        let note = try tool.run("checkpoint", environment: environment)
        #expect(note.status == 0, "\(note.errors)")
        return try #require(Int(note.lines[1]))
    }
}
