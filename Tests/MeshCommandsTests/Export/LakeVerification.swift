import Foundation
import TestKit
import Testing

@testable import MeshTables

/// What `lake verify` compares, and what `lake write` says of tables that it leaves as they are.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct LakeVerification {
    private let tool: Tool
    private var lake: String { tool.folder.file("lake").path }
    private var manifest: URL { URL(fileURLWithPath: lake + "/manifest.json") }

    init() throws {
        tool = try Tool()
        #expect(try tool.run("init").status == 0)
        #expect(try tool.run("simulate", "--seed", "3", "--nodes", "12", "--packets", "1500").status == 0)
        let written = try tool.run("lake", "write", lake)
        #expect(written.status == 0, "\(written)")
    }

    private func verify() throws -> Tool.Outcome { try tool.run("lake", "verify", lake) }

    private func tables() throws -> [String: [String: Any]] {
        let whole = try JSONSerialization.jsonObject(with: Data(contentsOf: manifest)) as? [String: Any]
        return try #require(whole?["tables"] as? [String: [String: Any]])
    }

    private func edit(_ table: String, _ change: (inout [String: Any]) throws -> Void) throws {
        var whole = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: manifest)) as? [String: Any])
        var tables = try tables()
        var edited = try #require(tables[table])
        try change(&edited)
        tables[table] = edited
        whole["tables"] = tables
        try JSONSerialization.data(withJSONObject: whole, options: .withoutEscapingSlashes).write(to: manifest)
    }

    private func other(_ value: Any?) throws -> Any {
        if let text = value as? String { return text.isEmpty ? "x" : text.dropLast() + (text.hasSuffix("0") ? "1" : "0") }
        let number = try #require(value as? Int)
        return number > 1 ? number - 1 : number + 1
    }

    @Test(arguments: ["waypoints", "positions", "events", "channels"])
    func `each value by which the manifest ties a file to the ledger is compared`(_ table: String) throws {
        let (whole, tables) = (try Data(contentsOf: manifest), try tables())
        #expect(try verify().status == 0)
        let known = try #require(tables[table])
        let file = try #require((known["files"] as? [[String: Any]])?.first)
        let fields =
            file.keys.map { ($0, true) } + known.keys.filter { !["files", "log", "clock"].contains($0) }.map { ($0, false) }
        #expect(fields.count > 10)
        for (field, ofFile) in fields.sorted(by: { $0.0 < $1.0 }) {
            try edit(table) { table in
                guard ofFile else { return table[field] = try other(table[field]) }
                var files = table["files"] as? [[String: Any]] ?? []
                files[0][field] = try other(files[0][field])
                table["files"] = files
            }
            let found = try verify()
            #expect(found.status != 0 && (found.output + found.errors).contains(table), "\(field): \(found)")
            try whole.write(to: manifest)
        }
    }

    @Test func `waypoints are compared as the clock was when they were written`() throws {
        #expect(try tool.run("waypoints", "--all", "--format", "jsonl").output.contains("expired"))
        let node = try #require(
            tool.run("sql", "SELECT creator FROM waypoints LIMIT 1", "--format", "csv").lines.last.map(String.init))
        #expect(try tool.run("erase", "--node", node, "--yes").status == 0)
        let found = try verify()
        #expect(found.status == 1 && found.output.contains("waypoints/day="), "\(found)")
        #expect(try tool.run("lake", "write", lake).status == 0)
        #expect(try verify().status == 0)
    }

    /// Somebody who replaces a file may also change the manifest, which is in the same folder.
    @Test(arguments: ["messages", "positions", "telemetry_device"])
    func `the rows in the files are compared with the ledger`(_ table: String) throws {
        try tool.run("simulate", "--seed", "4", "--nodes", "12", "--packets", "300", "--start", "2026-06-02T10:00:00Z")
        #expect(try tool.run("lake", "write", lake).status == 0)
        #expect(try verify().status == 0)
        var files = try #require(tables()[table]?["files"] as? [[String: Any]])
        let paths = try files.prefix(2).map { "\(lake)/\(table)/\(try #require($0["path"] as? String))" }
        try #require(paths.count == 2)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: paths[1]))
        try bytes.write(to: URL(fileURLWithPath: paths[0]))
        (files[0]["bytes"], files[0]["sha256"]) = (bytes.count, try PartFile.sha256(of: paths[0]))
        try edit(table) { $0["files"] = files }
        let found = try verify()
        #expect(found.status == 1 && found.output.contains("the rows in the file are not those of the ledger"), "\(found)")
    }

    @Test func `tables that a run leaves out are named if they hold what was erased, or are older`() throws {
        func write(_ tables: String...) throws -> Tool.Outcome {
            try tool.start(["lake", "write", lake] + tables.flatMap { ["--table", $0] }).wait()
        }
        #expect(try write("positions").errors.isEmpty)
        try tool.run("simulate", "--seed", "4", "--nodes", "12", "--packets", "20")
        let older = try write("positions")
        #expect(older.status == 0 && older.errors.contains("older: channels, events, "), "\(older)")
        #expect(try tool.run("erase", "--sequence", "3", "--yes").status == 0)
        let erased = try write("positions")
        #expect(erased.status == 0 && erased.errors.contains("erased"), "\(erased)")
        #expect(erased.errors.contains("events") && !erased.errors.contains("positions"), "\(erased)")
        #expect(erased.output.contains("is the ledger up to") == false, "\(erased)")
        let others = try tables().keys.filter { $0 != "positions" }
        let rest = try tool.start(["lake", "write", lake] + others.flatMap { ["--table", $0] }).wait()
        #expect(rest.status == 0 && rest.errors.isEmpty, "\(rest)")
        #expect(try verify().status == 0)
    }

    @Test(arguments: [false, true])
    func `verify says that retention dropped events since, and the next run drops their rows`(_ isBehind: Bool) throws {
        try tool.run("simulate", "--seed", "5", "--nodes", "12", "--packets", "1500")
        if !isBehind { #expect(try tool.run("lake", "write", lake).status == 0) }
        #expect(try tool.run("storage", "retain", "--larger-than", "150KB", "--yes").status == 0)
        #expect(try tool.run("stats", "--format", "json").output.contains("dropped"))
        let found = try verify()
        let sentence =
            isBehind
            ? "since the tables up to event 1500 were written" : "since these tables were written: events, packets, receptions;"
        #expect(
            found.status == 1 && found.output.contains("retention dropped events") && found.output.contains(sentence), "\(found)")
        #expect(!found.output.contains("not those of the ledger"), "\(found)")
        let written = try tool.run("lake", "write", lake)
        #expect(written.status == 0 && written.output.contains("packets: version "), "\(written)")
        let verified = try verify()
        #expect(verified.status == 0, "\(verified)")
    }

    @Test func `foreign files in a lake are named`() throws {
        let day = try #require(
            FileManager.default.contentsOfDirectory(atPath: lake + "/positions").first { $0.hasPrefix("day=") })
        for name in ["positions/\(day)/part-zzz.parquet", "positions/other.parquet", "copy.parquet"] {
            let path = URL(fileURLWithPath: lake + "/" + name)
            try Data("junk".utf8).write(to: path)
            let found = try verify()
            #expect(found.status == 0 && found.output.contains("\(name) is not the lake's"), "\(found)")
            try FileManager.default.removeItem(at: path)
        }
        for name in ["positions/part-x.zstd.parquet", "part-x.zstd.parquet"] {
            try Data("junk".utf8).write(to: URL(fileURLWithPath: lake + "/" + name))
            let found = try verify()
            #expect(found.output.contains("\(name) is not the lake's: readers that list files"), "\(found)")
            try FileManager.default.removeItem(atPath: lake + "/" + name)
        }
        #expect(try !verify().output.contains("is not the lake's"))
    }

    @Test func `packets that have lost receptions to retention are no difference from the ledger`() throws {
        for gateway in ["!0000aaaa", "!0000bbbb", "!0000cccc", "!0000dddd"] {
            let lines = (0..<1_500).map { number in
                Line.text("text \(number)", from: UInt32(7 + number / 500), time: 1_760_000_000 + number % 500)
                    .replacing("!0000abcd", with: gateway)
            }
            try tool.run("import", tool.write(lines, to: gateway))
        }
        #expect(try tool.run("lake", "write", lake).status == 0)
        #expect(try tool.run("storage", "retain", "--larger-than", "600KB", "--yes").status == 0)
        let found = try verify()
        #expect(found.status == 1 && found.output.contains("were written: events, packets, receptions;"), "\(found)")
        #expect(!found.output.contains("of the ledger ("), "\(found)")
        #expect(!found.output.contains("rows of the ledger are missing"), "\(found)")
        #expect(try tool.run("lake", "write", lake).status == 0)
        #expect(try verify().status == 0)
    }

    @Test func `a lake without its manifest is not to be written again`() throws {
        try FileManager.default.removeItem(at: manifest)
        let found = try verify()
        #expect(found.status == 66 && found.errors.contains("put it back, or write a new lake in another folder"), "\(found)")
        #expect(!found.errors.contains("run `meshledger lake write` again"), "\(found)")
        #expect(try tool.run("lake", "write", lake).status == 73)
    }
}
