import Foundation
import MeshLedger
import TestKit
import Testing

@testable import MeshTables

/// The files in the folder of a table's Delta log: which of them a run has made.
@Suite struct LogFolders {
    private let folder: TemporaryFolder
    private var table: String { folder.path + "/things" }
    private let schema = DeltaLog.schema(TableSchema(name: "things", columns: [ColumnSchema("number", .int64)]))

    init() throws { folder = try TemporaryFolder() }

    private func file(_ number: Int) -> DeltaLog.File {
        DeltaLog.File(path: "day=2026-01-01/part-\(number).zstd.parquet", day: .null, size: number, rows: 1, sha256: "\(number)")
    }

    /// Each version has another file.
    private func log(versions: Int) throws -> DeltaLog {
        var log = try DeltaLog(table)
        for version in 0..<versions {
            try log.commit(
                "things", schema: schema, adding: [file(version)], removing: version == 0 ? [] : [file(version - 1).path])
        }
        return try DeltaLog(table)
    }

    private func plant(_ name: String) throws {
        try Data("junk".utf8).write(to: URL(fileURLWithPath: "\(table)/_delta_log/\(name)"))
    }

    @Test func `checkpoints are known by name and hash, also those before the last one`() throws {
        let log = try log(versions: 35)
        #expect(log.checkpoint == 30)
        #expect(try log.foreignFiles().isEmpty)
        let older = try #require(log.olderCheckpoints)
        #expect(older.keys.sorted() == [10, 20].map { "000000000000000000\($0).checkpoint.parquet" })
        for (name, hash) in older { #expect(try PartFile.sha256(of: "\(log.folder)/\(name)") == hash) }
        for number in ["05", "34", "40"] {
            let name = "000000000000000000\(number).checkpoint.parquet"
            try plant(name)
            #expect(try log.foreignFiles() == [name])
            try FileManager.default.removeItem(atPath: "\(log.folder)/\(name)")
        }
        try plant("00000000000000000020.checkpoint.parquet")
        #expect(try log.checkpoints(without: []).count == 3)
        #expect(
            try log.checkpoints(without: [])["00000000000000000020.checkpoint.parquet"]
                == older["00000000000000000020.checkpoint.parquet"])
    }

    @Test func `a log of an earlier version, whose state names no checkpoints, has no foreign files`() throws {
        let state = "\(try log(versions: 35).folder)/.state"
        let text = try String(contentsOfFile: state, encoding: .utf8)
        let start = try #require(text.range(of: ",\"checkpoints\":{"))
        try (text[..<start.lowerBound] + "}}\n").write(toFile: state, atomically: true, encoding: .utf8)
        let log = try DeltaLog(table)
        #expect(log.olderCheckpoints == nil && log.checkpoint == 30)
        #expect(try log.foreignFiles().isEmpty)
        #expect(try log.checkpoints(without: []).count == 3)
    }

    @Test func `files of earlier versions are promised with size and hash unless they were lost`() throws {
        var log = try log(versions: 3)
        #expect(
            log.promised(since: 0)
                == [file(0), file(1)].map { DeltaLog.File(path: $0.path, day: .null, size: $0.size, rows: 0, sha256: $0.sha256) })
        #expect(log.promised(since: .max).isEmpty)
        try log.commit("things", schema: schema, adding: [], removing: [file(2).path], lost: [file(2).path])
        #expect(try DeltaLog(table).promised(since: 0).count == 2)
    }

    @Test func `a commit of another program is known by its name and its statistics`() throws {
        let log = try log(versions: 1)
        let own = try String(contentsOfFile: "\(log.folder)/00000000000000000000.json", encoding: .utf8)
        #expect(log.foreign.isEmpty)
        for text in [
            own.replacing("\"MeshLedger\"", with: "\"delta-rs\""),
            own.replacing("{\\\"numRecords\\\":1}", with: "{\\\"numRecords\\\":1,\\\"minValues\\\":{}}"),
            own.split(separator: "\n").dropFirst().joined(separator: "\n"),
        ] {
            #expect(text != own)
            try text.write(toFile: "\(log.folder)/00000000000000000001.json", atomically: true, encoding: .utf8)
            #expect(try DeltaLog(table).foreignCommits == ["00000000000000000001.json"])
        }
    }

    @Test func `a log that is made again has neither what others added nor what they changed`() throws {
        var log = try log(versions: 3)
        let names = ["00000000000000000001.checkpoint.parquet", "00000000000000000003.checkpoint.parquet", "_sidecars"]
        for name in names.prefix(2) { try plant(name) }
        try FileManager.default.createDirectory(atPath: "\(log.folder)/_sidecars/more", withIntermediateDirectories: true)
        #expect(try log.foreignFiles() == names)
        try log.restore("things", schema: schema, [file(7)], dropping: Set(names + ["00000000000000000002.json"]))
        let again = try DeltaLog(table)
        #expect(again.live.keys.sorted() == [file(7).path] && again.version == 3 && again.checkpoint == 3)
        #expect(try again.foreignFiles().isEmpty && again.foreign.isEmpty)
        let left = try FileManager.default.contentsOfDirectory(atPath: log.folder).sorted()
        #expect(
            left == [".state"] + [0, 1].map { "0000000000000000000\($0).json" } + [
                "00000000000000000003.checkpoint.parquet", "00000000000000000003.json", "_last_checkpoint",
            ])
        // As if the run had been killed before it removed the commit.
        try plant("00000000000000000002.json")
        #expect(try DeltaLog(table).foreignFiles() == ["00000000000000000002.json"])
    }
}
