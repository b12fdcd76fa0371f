import Foundation
import TestKit
import Testing

/// Lakes in which something else is in the place of a file or a folder.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct OddLakes {
    private let tool: Tool
    private var lake: String { tool.folder.file("lake").path }
    private var outside: String { tool.folder.file("outside").path }

    /// A lake that was written once, and for which there is something new.
    init() throws {
        tool = try Tool(holding: [Line.node(7, long: "A node", short: "A"), Line.text("hello", from: 7)])
        let written = try tool.run("lake", "write", lake)
        #expect(written.status == 0, "\(written)")
        try tool.run("import", tool.write([Line.text("hello again", from: 7, time: 1_760_000_001)], to: "more.jsonl"))
    }

    /// Runs a command that must end at once.
    private func run(_ command: String) throws -> Tool.Outcome {
        try tool.start(["lake", command, lake]).waitOrKill("lake \(command)")
    }

    private func contents(_ path: String) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            found[name] = FileManager.default.contents(atPath: path + "/" + name) ?? Data()
        }
        return found
    }

    private func putFIFO(at path: String) throws {
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        #expect(unsafe mkfifo(path, 0o600) == 0)
    }

    @Test(
        arguments: [
            "manifest.json", "messages/_delta_log/00000000000000000000.json", "messages/_delta_log/00000000000000000001.json",
            "messages/_delta_log/.state", ".lock",
        ])
    func `a FIFO in the place of a file is refused, and nobody waits for it`(_ name: String) throws {
        let path = lake + "/" + name
        try putFIFO(at: path)
        for command in name == ".lock" ? ["write"] : ["write", "verify"] {
            let outcome = try run(command)
            #expect(outcome.status == 65, "\(outcome)")
            #expect(outcome.errors.contains("\(path): something else is in its place"), "\(outcome)")
            #expect(outcome.errors.contains("FIFO"), "\(outcome)")
        }
    }

    /// What somebody else does to a table's Delta log, of which readers then make something else, or nothing.
    enum LogDamage: CaseIterable {
        case day, schema, readerVersion, rows, size, noCheckpoint, cutCheckpoint, noHint, addedHint

        func isOf(_ name: String) -> Bool {
            switch self {
            case .day, .schema, .readerVersion, .rows, .size, .addedHint: name == "00000000000000000000.json"
            case .noCheckpoint, .cutCheckpoint: name.hasSuffix(".checkpoint.parquet")
            case .noHint: name == "_last_checkpoint"
            }
        }

        func changed(_ bytes: Data) -> Data? {
            func replaced(_ old: String, _ new: String) -> Data {
                Data(String(decoding: bytes, as: UTF8.self).replacing(old, with: new).utf8)
            }
            return switch self {
            case .day: replaced("\"day\":\"20", "\"day\":\"19")
            case .schema: replaced("\\\"text\\\"", "\\\"test\\\"")
            case .readerVersion: replaced("\"minReaderVersion\":1", "\"minReaderVersion\":9")
            case .rows: replaced("numRecords\\\":1", "numRecords\\\":7")
            case .size: replaced("\"size\":", "\"size\":1")
            case .noCheckpoint, .noHint: nil
            case .addedHint: bytes
            case .cutCheckpoint: bytes.prefix(bytes.count / 2)
            }
        }
    }

    @Test(arguments: LogDamage.allCases)
    func `a Delta log that others changed is named, and the next run makes a new one`(_ damage: LogDamage) throws {
        // From the tenth version on, readers begin with a checkpoint.
        let needsCheckpoint = [.noCheckpoint, .cutCheckpoint, .noHint].contains(damage)
        for index in 0..<(needsCheckpoint ? 10 : 0) {
            try tool.run(
                "import", tool.write([Line.text("\(index)", from: 7, time: 1_760_000_010 + index)], to: "\(index).jsonl"))
            #expect(try run("write").status == 0)
        }
        if !needsCheckpoint { #expect(try tool.run("lake", "verify", lake).status == 0) }
        let folder = lake + "/messages/_delta_log"
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder).first(where: damage.isOf))
        let before = try #require(FileManager.default.contents(atPath: folder + "/" + name))
        if damage == .addedHint {
            try Data("{\"version\":5,\"size\":1}".utf8).write(to: URL(fileURLWithPath: folder + "/_last_checkpoint"))
        } else if let after = damage.changed(before) {
            #expect(after != before, "the damage fits")
            try after.write(to: URL(fileURLWithPath: folder + "/" + name))
        } else {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
        let found = try run("verify")
        #expect(
            found.status == 1
                && found.output.contains("messages/_delta_log/\(damage == .addedHint ? "_last_checkpoint" : name) "), "\(found)")
        #expect(found.output.contains("run `meshledger lake write`, which makes a new log"), "\(found)")
        let mended = try run("write")
        #expect(mended.status == 0 && mended.output.contains("messages: its Delta log was changed by others"), "\(mended)")
        let again = try run("verify")
        #expect(again.status == 0, "\(again)")
        #expect(try run("write").output.contains("Delta log") == false)
        guard LakePython.path != nil else { return }
        let rows = try tool.run("messages", "--format", "jsonl").output.split(separator: "\n").count
        #expect(try LakePython.run("rows.py", [lake + "/messages", "\(rows)"]).contains("\(rows) rows are read"))
    }

    @Test func `verify reports a FIFO in the place of a file with rows`() throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: lake)
        let name = try #require(names.first { $0.hasPrefix("messages/day=") && $0.hasSuffix(".parquet") })
        try putFIFO(at: lake + "/" + name)
        let outcome = try run("verify")
        #expect(outcome.status == 1 && outcome.output.contains("\(name) cannot be read"), "\(outcome)")
        #expect(outcome.output.contains("FIFO"), "\(outcome)")
    }

    @Test(arguments: ["messages", "messages/_delta_log", "messages/day="], [false, true])
    func `a link in the place of a folder is refused, and nothing changes where it leads`(_ name: String, isEmpty: Bool) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: lake).sorted()
        let folder = try #require(names.first { $0.hasPrefix(name) })
        let path = lake + "/" + folder
        if isEmpty {
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        } else {
            try FileManager.default.moveItem(atPath: path, toPath: outside)
        }
        #expect(unsafe symlink(outside, path) == 0)
        let before = try contents(outside)
        for command in ["write", "verify"] {
            let outcome = try run(command)
            #expect(outcome.status == 65, "\(outcome)")
            #expect(outcome.errors.contains("\(path): something else is in its place"), "\(outcome)")
            #expect(outcome.errors.contains("symbolic link"), "\(outcome)")
            #expect(try contents(outside) == before)
        }
    }

    @Test func `the lake's own folder may be a link`() throws {
        try FileManager.default.moveItem(atPath: lake, toPath: outside)
        #expect(unsafe symlink(outside, lake) == 0)
        for command in ["write", "verify"] {
            let outcome = try run(command)
            #expect(outcome.status == 0, "\(outcome)")
        }
    }

    @Test func `the status tells whether a lake is missing, in use, another's, or asked for what it cannot be`() throws {
        func status(_ arguments: String...) throws -> Int32 { try tool.start(["lake"] + arguments).wait().status }
        let (empty, other) = (tool.folder.file("empty").path, tool.folder.file("other.ledger").path)
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
        #expect(try status("verify", empty) == 66 && status("verify", outside) == 66)
        try Data().write(to: URL(fileURLWithPath: empty + "/file"))
        #expect(
            try status("write", empty) == 73 && status("write", empty + "/file") == 73 && status("verify", empty + "/file") == 66)
        let lock = unsafe open(lake + "/.lock", O_RDWR | O_CLOEXEC)
        #expect(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        let refused = try tool.run("lake", "write", lake)
        #expect(refused.status == 75 && refused.errors.contains("another `meshledger lake`"), "\(refused)")
        close(lock)
        #expect(try status("write", lake, "--precision", "1km", "--table", "positions") == 64)
        #expect(try tool.run("init", other).status == 0)
        #expect(try status("write", lake, "--ledger", other) == 73 && status("verify", lake, "--ledger", other) == 65)
        #expect(try status("write", lake) == 0 && status("verify", lake) == 0)
        try Data("{".utf8).write(to: URL(fileURLWithPath: lake + "/manifest.json"))
        #expect(try status("write", lake) == 65 && status("verify", lake) == 65)
    }

    @Test func `kinds of telemetry are called as in SQL, and in an earlier lake as before`() throws {
        func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: lake)) }
        let (name, former) = ("telemetry_air_quality", "telemetry_airQuality")
        #expect(try names().contains(name) && !names().contains(former))
        try FileManager.default.moveItem(atPath: "\(lake)/\(name)", toPath: "\(lake)/\(former)")
        let manifest = URL(fileURLWithPath: lake + "/manifest.json")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        try Data(text.replacing("\"\(name)\":", with: "\"\(former)\":").utf8).write(to: manifest)
        for table in [[], ["--table", name], ["--table", former]] {
            let outcome = try tool.start(["lake", "write", lake] + table).wait()
            #expect(outcome.status == 0 && !outcome.output.contains(name), "\(outcome)")
            #expect(try names().contains(former) && !names().contains(name))
        }
        #expect(try run("verify").status == 0)
        #expect(try tool.run("telemetry", "--kind", "air_quality").status == 0)
    }

    @Test func `a lake is verified after retention, whose cut leaves no root of the tree as it was`() throws {
        for seed in ["1", "2"] {
            #expect(try tool.run("simulate", "--seed", seed, "--packets", "1500").status == 0)
            #expect(try run("write").status == 0)
        }
        #expect(try tool.run("storage", "retain", "--larger-than", "150KB", "--yes").status == 0)
        #expect(try tool.run("stats", "--format", "json").output.contains("dropped"))
        #expect(try run("write").status == 0)
        let verified = try run("verify")
        #expect(verified.status == 0 && verified.output.contains("retention has dropped"), "\(verified)")
    }

    @Test(arguments: [("\"messages\":", "\"../outside\":"), ("\"log\":{\"", "\"log\":{\"../../../outside/_delta_log/")])
    func `a manifest that names a folder outside of the lake is refused, and that folder stays`(_ old: String, _ new: String)
        throws
    {
        let manifest = lake + "/manifest.json"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        let changed = text.replacingOccurrences(of: old, with: new)
        #expect(changed != text)
        try changed.write(toFile: manifest, atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: outside + "/_delta_log", withIntermediateDirectories: true)
        try Data("precious".utf8).write(to: URL(fileURLWithPath: outside + "/_delta_log/precious.tmp"))
        let before = try contents(outside)
        for command in ["write", "verify"] {
            let outcome = try run(command)
            #expect(outcome.status == 65 && outcome.errors.contains("not inside the lake"), "\(outcome)")
            #expect(try contents(outside) == before)
        }
    }

    @Test func `a folder with something else in it is refused, and nothing is left there`() throws {
        let folder = tool.folder.file("other").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data([1]).write(to: URL(fileURLWithPath: folder + "/notes.txt"))
        let outcome = try tool.run("lake", "write", folder)
        #expect(outcome.status == 73 && outcome.errors.contains("is not a lake, but contains notes.txt"), "\(outcome)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["notes.txt"])
    }
}
