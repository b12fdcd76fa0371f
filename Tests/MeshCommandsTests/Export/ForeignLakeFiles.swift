import Foundation
import TestKit
import Testing

/// What other programs do to a lake's tables, and what becomes of it.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct ForeignLakeFiles {
    private let tool: Tool
    private var lake: String { tool.folder.file("lake").path }
    private var log: String { lake + "/messages/_delta_log" }

    /// A lake whose messages have a second version.
    init() throws {
        tool = try Tool(holding: (0..<3).map { Line.text("on day \($0)", from: 7, time: 1_760_000_000 + $0 * 86_400) })
        #expect(try tool.run("lake", "write", lake).status == 0)
        try tool.run("import", tool.write([Line.text("later", from: 7, time: 1_760_000_009)], to: "more.jsonl"))
        #expect(try tool.run("lake", "write", lake).output.contains("messages: version 1"))
        #expect(try verify().status == 0)
    }

    private func verify() throws -> Tool.Outcome { try tool.run("lake", "verify", lake) }

    private func url(_ path: String) -> URL { URL(fileURLWithPath: path) }

    /// The next run says that others changed the log, and then the lake is as it should be.
    private func expectMended() throws {
        let written = try tool.run("lake", "write", lake)
        #expect(written.status == 0 && written.output.contains("messages: its Delta log was changed by others"), "\(written)")
        let found = try verify()
        #expect(found.status == 0, "\(found)")
        try expectNothingToMend()
        guard LakePython.path != nil else { return }
        #expect(try LakePython.run("rows.py", [lake + "/messages", "4"]).contains("4 rows are read"))
    }

    private func expectNothingToMend() throws {
        let written = try tool.run("lake", "write", lake)
        #expect(written.status == 0 && !written.output.contains("Delta log"), "\(written)")
    }

    /// A commit of another program, after those of the lake.
    private func plant(removing path: String, at time: Int64 = 1_760_000_000_000) throws {
        let commit = """
            {"remove":{"path":"\(path)","dataChange":true,"deletionTimestamp":\(time)}}
            {"commitInfo":{"timestamp":1760000000000,"operation":"DELETE","engineInfo":"delta-rs:1.6.6"}}
            """
        try Data(commit.utf8).write(to: url("\(log)/00000000000000000002.json"))
    }

    private func edit(_ change: (inout [String: Any]) throws -> Void) throws {
        let manifest = url(lake + "/manifest.json")
        var json = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: manifest)) as? [String: Any])
        try change(&json)
        try JSONSerialization.data(withJSONObject: json, options: .withoutEscapingSlashes).write(to: manifest)
    }

    /// The paths in the actions of a commit.
    private func paths(_ action: String, in commit: String) throws -> [String] {
        try String(contentsOfFile: "\(log)/\(commit)", encoding: .utf8).split(separator: "\n").compactMap { line in
            let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return (json?[action] as? [String: Any])?["path"] as? String
        }
    }

    @Test(
        arguments: [
            "00000000000000000000.checkpoint.parquet", "00000000000000000001.checkpoint.parquet",
            "00000000000000000002.checkpoint.parquet", "00000000000000000005.checkpoint.parquet",
            "00000000000000000001.checkpoint.0000000001.0000000001.parquet",
            "00000000000000000001.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet",
            "00000000000000000000.00000000000000000001.compacted.json", "00000000000000000001.crc", "_sidecars", "_commits",
        ])
    func `a foreign file in a Delta log is named, and the next run removes it`(_ name: String) throws {
        let isFolder = name.hasPrefix("_")
        if isFolder {
            try FileManager.default.createDirectory(atPath: "\(log)/\(name)", withIntermediateDirectories: false)
        }
        try Data("planted".utf8).write(to: url("\(log)/\(name)" + (isFolder ? "/a.json" : "")))
        let found = try verify()
        #expect(found.status == 1 && found.output.contains("messages/_delta_log/\(name) is not the lake's"), "\(found)")
        try expectMended()
        #expect(try filesHolding("planted", below: lake).isEmpty)
    }

    @Test(arguments: [false, true])
    func `a commit of another program is named, and nothing of it stays`(_ isErasedFirst: Bool) throws {
        let live = try #require(paths("add", in: "00000000000000000000.json").last)
        let day = live.prefix { $0 != "/" }
        let part = "\(day)/part-00001-5e0c7d1c-7026-4e79-81be-64bd76c43a11-c000.snappy.parquet"
        try Data("secret words".utf8).write(to: url("\(lake)/messages/\(part)"))
        let stats = #"{\"numRecords\":1,\"minValues\":{\"text\":\"secret words\"}}"#
        let commit = """
            {"remove":{"path":"\(live)","dataChange":true,"deletionTimestamp":1760000000000}}
            {"add":{"path":"\(part)","partitionValues":{"day":"\(day.dropFirst(4))"},"size":12,"modificationTime":1760000000000,"dataChange":true,"stats":"\(stats)"}}
            {"commitInfo":{"timestamp":1760000000000,"operation":"DELETE","engineInfo":"delta-rs:1.6.6"}}
            """
        try Data(commit.utf8).write(to: url("\(log)/00000000000000000002.json"))
        try Data("planted".utf8).write(to: url("\(log)/00000000000000000005.checkpoint.parquet"))
        let found = try verify()
        #expect(
            found.status == 1 && found.output.contains("00000000000000000002.json was committed by another program"), "\(found)")
        #expect(found.output.contains("00000000000000000005.checkpoint.parquet is not the lake's"), "\(found)")
        #expect(!found.output.contains("interrupted"), "\(found)")
        if !isErasedFirst {
            try expectMended()
            #expect(try filesHolding("secret words", below: lake) == ["messages/\(part)"], "only its own file, until that is old")
        }
        #expect(try tool.run("erase", "--sequence", "1", "--yes").status == 0)
        let written = try tool.run("lake", "write", lake)
        #expect(written.status == 0, "\(written)")
        #expect(try filesHolding("secret words", below: lake).isEmpty)
        #expect(try verify().status == 0)
    }

    @Test func `a file of an earlier version that is gone or changed is named`() throws {
        let path = "\(lake)/messages/\(try #require(paths("remove", in: "00000000000000000001.json").first))"
        let bytes = try Data(contentsOf: url(path))
        try Data(repeating: 7, count: bytes.count).write(to: url(path))
        let changed = try verify()
        #expect(changed.status == 1 && changed.output.contains("\(path), of an earlier version, was changed"), "\(changed)")
        try Data([7]).write(to: url(path))
        let cut = try verify()
        #expect(cut.status == 1 && cut.output.contains("\(path), of an earlier version, was changed"), "\(cut)")
        try FileManager.default.removeItem(atPath: path)
        let gone = try verify()
        #expect(gone.status == 1 && gone.output.contains("\(path), of an earlier version, is missing"), "\(gone)")
        try expectMended()
    }

    @Test func `files of earlier versions that a run has removed are not missed`() throws {
        #expect(try tool.run("lake", "write", lake, "--keep", "0").output.contains("removed"))
        let found = try verify()
        #expect(found.status == 0, "\(found)")
        try expectNothingToMend()
    }

    @Test func `a part that no version names is named, and the next run removes it`() throws {
        let part = try #require(paths("add", in: "00000000000000000001.json").first)
        let stale = "\(lake)/messages/\(part.prefix { $0 != "/" })/part-00000000-0000-4000-8000-000000000000.zstd.parquet"
        try FileManager.default.copyItem(atPath: "\(lake)/messages/\(part)", toPath: stale)
        let found = try verify()
        #expect(
            found.status == 0 && found.output.contains("-0000-4000-8000-000000000000.zstd.parquet is not the lake's"), "\(found)")
        #expect(try tool.run("lake", "write", lake).status == 0)
        #expect(!FileManager.default.fileExists(atPath: stale))
        #expect(try !verify().output.contains("is not the lake's"))
    }

    @Test func `a run that leaves a table out removes no file that the manifest names`() throws {
        let live = try #require(paths("add", in: "00000000000000000000.json").last)
        try plant(removing: live)
        #expect(try tool.run("lake", "write", lake, "--table", "nodes", "--keep", "0").status == 0)
        #expect(FileManager.default.fileExists(atPath: "\(lake)/messages/\(live)"))
        try expectMended()
    }

    @Test func `a log that is made again names no file that is gone`() throws {
        let live = try #require(paths("add", in: "00000000000000000000.json").last)
        try plant(removing: live)
        try FileManager.default.removeItem(atPath: "\(lake)/messages/\(live)")
        try expectMended()
        #expect(try !paths("add", in: "00000000000000000003.json").contains(live))
    }

    @Test(arguments: [Int64.min, .max])
    func `another program may name any time for its removals`(_ time: Int64) throws {
        try plant(removing: try #require(paths("remove", in: "00000000000000000001.json").first), at: time)
        try expectMended()
        #expect(try !String(contentsOfFile: log + "/.state", encoding: .utf8).contains("\(time)"))
    }

    @Test func `a manifest with a negative number is no crash`() throws {
        try edit { $0["head"] = -1 }
        let found = try verify()
        #expect(found.status == 1 && found.output.contains("the tree's root"), "\(found)")
    }

    @Test func `after an erasure, nothing of another program's commit stays in a table of an unknown view`() throws {
        try plant(removing: try #require(paths("add", in: "00000000000000000000.json").last))
        try FileManager.default.moveItem(atPath: lake + "/messages", toPath: lake + "/things")
        try edit { manifest in
            var tables = manifest["tables"] as? [String: Any] ?? [:]
            tables["things"] = tables.removeValue(forKey: "messages")
            manifest["tables"] = tables
        }
        #expect(try tool.run("erase", "--sequence", "1", "--yes").status == 0)
        let written = try tool.run("lake", "write", lake)
        #expect(written.status == 0 && written.output.contains("things: its Delta log was changed by others"), "\(written)")
        #expect(try filesHolding("delta-rs", below: lake).isEmpty)
        let found = try verify()
        #expect(found.status == 0, "\(found)")
        try expectNothingToMend()
    }

    @Test func `files that were removed when the clock was ahead are not missed`() throws {
        let commit = url("\(log)/00000000000000000001.json")
        let later = Int64(Date.now.timeIntervalSince1970 + 86_400) * 1000
        let text = try String(contentsOf: commit, encoding: .utf8)
        try text.replacing(#/"deletionTimestamp":\d+/#, with: "\"deletionTimestamp\":\(later)")
            .write(to: commit, atomically: true, encoding: .utf8)
        try edit { manifest in
            var tables = manifest["tables"] as? [String: [String: Any]] ?? [:]
            tables["messages"]?["log"] = [String: String]()
            manifest["tables"] = tables
        }
        #expect(try tool.run("lake", "write", lake, "--keep", "0").output.contains("removed"))
        let found = try verify()
        #expect(found.status == 0, "\(found)")
        try expectNothingToMend()
    }
}
