import Foundation
import MeshViews
import TestKit
import Testing

/// The rows of all views against a fold written in Python, with the official decoder, over the exported raw events.
@Suite(.enabled(if: OraclePython.path != nil, "needs a Python with the official decoder; Tools/test makes one beside ../shared"))
struct IndependentFold {
    /// `MESHLEDGER_SEED` reruns another one.
    private static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["MESHLEDGER_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? [6, 11]
    private static let harbour = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    private func run(_ program: String, _ arguments: [String], output: URL? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let pipe = Pipe.ofOneChild()
        if let output {
            _ = FileManager.default.createFile(atPath: output.path, contents: nil)
            process.standardOutput = try FileHandle(forWritingTo: output)
        } else {
            process.standardOutput = pipe
        }
        try process.run()
        let text = output == nil ? String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) : ""
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ProgramFailure(text: "\(arguments.prefix(2)): \(text)") }
        return text
    }

    private func compare(_ folder: TemporaryFolder, psk: [String] = []) throws -> String {
        let program = try BuiltProgram.url().path
        let ledger = folder.path + "/mesh.ledger"
        for subject in ["events", "channels", "gateway_nodes", "hardware", "unknown_telemetry", "references"] + Ledger.viewNames {
            let file = folder.file("\(subject).jsonl")
            _ = try run(program, ["export", subject, "--ledger", ledger, "--format", "jsonl", "--archived"], output: file)
        }
        _ = try run(
            program, ["quarantine", "--ledger", ledger, "--format", "jsonl"], output: folder.file("quarantine.jsonl"))
        let python = try #require(OraclePython.path)
        let oracle = PackageRoot.url.appendingPathComponent("Tests/Oracle").path
        let events = folder.file("events.jsonl").path
        _ = try run(python, [oracle + "/fold.py", events] + psk, output: folder.file("rows.jsonl"))
        return try run(python, [oracle + "/compare.py", folder.file("rows.jsonl").path, folder.path])
    }

    @Test(
        .enabled(if: SharedFolder.exists, "needs ../shared"),
        arguments: [
            ("mqtt-envelopes.base64", 733), ("packets-2025-09.jsonl", 11_609), ("udp-datagrams.jsonl", 43),
            ("tcp-stream.bin", 3_239), ("json-messages.jsonl", 49), ("single-packets.jsonl", 154),
        ])
    func `recorded traffic gives the rows of the independent fold`(name: String, rows: Int) throws {
        let folder = try TemporaryFolder()
        let program = try BuiltProgram.url().path
        let ledger = folder.path + "/mesh.ledger"
        _ = try run(program, ["init", "--ledger", ledger])
        _ = try run(program, ["import", "--ledger", ledger, SharedFolder.file("captures/\(name)").path])
        let found = try compare(folder)
        #expect(found.contains("\(rows) rows compared, 0 differences"), "\(found)")
        try expectCommitted(name, folder)
    }

    /// The rows that were compared are as many as `Tests/Fixtures/captures.tsv` says, which has digests beside the numbers.
    private func expectCommitted(_ capture: String, _ folder: TemporaryFolder) throws {
        let table = PackageRoot.url.appendingPathComponent("Tests/Fixtures/captures.tsv")
        let lines = try String(contentsOf: table, encoding: .utf8).split(separator: "\n").map { $0.split(separator: "\t") }
        var compared = 0
        // A block of the index holds many events, and a channel has rows in two views.
        for line in lines where line[0] == capture && line[2] != "packets" && line[2] != "channels" {
            let rows = try String(contentsOf: folder.file("\(line[2]).jsonl"), encoding: .utf8).split(separator: "\n").count
            #expect(Int(line[3]) == rows, "\(line)")
            compared += 1
        }
        #expect(compared > 10)
    }

    @Test(arguments: [0, 300]) func `simulated traffic with a late key gives the rows of the independent fold`(bad: Int) throws {
        let folder = try TemporaryFolder()
        let program = try BuiltProgram.url().path
        let ledger = folder.path + "/mesh.ledger"
        _ = try run(program, ["init", "--ledger", ledger])
        let options = ["--seed", "4", "--nodes", "60", "--packets", "6000", "--bad", "\(bad)"]
        _ = try run(program, ["simulate", "--ledger", ledger] + options)
        _ = try run(program, ["keys", "add", "Harbour", "--ledger", ledger, "--psk", Self.harbour])
        #expect(try compare(folder, psk: ["--psk", "Harbour=" + Self.harbour]).contains(" rows compared, 0 differences"))
    }

    @Test func `K13: what was marked, noted, hidden and undone gives the rows of the independent fold`() throws {
        let folder = try TemporaryFolder()
        let program = try BuiltProgram.url().path
        let ledger = folder.path + "/mesh.ledger"
        _ = try run(program, ["init", "--ledger", ledger])
        _ = try run(program, ["simulate", "--ledger", ledger, "--seed", "5", "--nodes", "12", "--packets", "600"])
        let listed = try run(program, ["nodes", "--ledger", ledger, "--format", "csv"]).split(whereSeparator: \.isNewline)
        let nodes = listed.dropFirst().compactMap { $0.split(separator: ",").first.map(String.init) }
        try #require(nodes.count > 6)
        let steps: [[String]] = [
            ["node", "favorite", nodes[0], nodes[1]], ["node", "note", nodes[0], "on the roof ⛵"],
            ["node", "note", nodes[1], "old"],
            ["node", "note", nodes[1]], ["node", "alias", nodes[2], "harbour"],
            ["node", "alias", nodes[3], "harbour", "--replace"],
            ["node", "ignore", nodes[4]], ["node", "archive", nodes[5], "--messages", "cascade"], ["node", "archive", nodes[6]],
            ["node", "restore", nodes[6]], ["message", "read", "--channel", "LongFast"],
            ["message", "archive", "--node", nodes[0]],
            ["simulate", "--seed", "6", "--nodes", "12", "--packets", "300"],
        ]
        for step in steps { _ = try run(program, step + ["--ledger", ledger]) }
        let events = try run(program, ["events", "--ledger", ledger, "--format", "csv"]).split(whereSeparator: \.isNewline)
        let last = try #require(events.first { $0.contains(",annotation,") }?.split(separator: ",").first)
        _ = try run(program, ["revert", String(last), "--ledger", ledger])
        #expect(try compare(folder).contains(" rows compared, 0 differences"))
    }

    @Test(arguments: [0, 200]) func `simulated traffic in the JSON form gives the rows of the independent fold`(bad: Int) throws {
        let folder = try TemporaryFolder()
        let program = try BuiltProgram.url().path
        let ledger = folder.path + "/mesh.ledger"
        let file = folder.file("json").path
        _ = try run(program, ["init", "--ledger", ledger])
        let options = ["--seed", "9", "--packets", "4000", "--bad", "\(bad)", "--as", "mqtt-json", "--to", file]
        _ = try run(program, ["simulate"] + options)
        _ = try run(program, ["import", "--ledger", ledger, file])
        let found = try compare(folder)
        #expect(found.contains(" rows compared, 0 differences"), "\(found)")
    }

    /// What FOLD.md says of damaged bytes is exact enough to be written again: no difference is excused.
    @Test(
        arguments: ["envelopes", "jsonl", "stream", "length-prefixed", "mqtt-envelopes.base64", "packets-2025-09.jsonl"], seeds)
    func `traffic with records removed, repeated and corrupted gives the rows of the independent fold`(
        kind: String, seed: UInt64
    ) throws {
        let folder = try TemporaryFolder()
        let program = try BuiltProgram.url().path
        let ledger = folder.path + "/mesh.ledger"
        var file = folder.file("capture")
        if kind.contains(".") {
            guard SharedFolder.exists else { return }
            file = SharedFolder.file("captures/\(kind)")
        } else {
            _ = try run(program, ["simulate", "--seed", "8", "--packets", "5000", "--to", file.path, "--as", kind])
        }
        var generator = SeededGenerator(seed: seed)
        let damaged = folder.file("damaged")
        try Damage.records(of: Data(contentsOf: file), kind, &generator).write(to: damaged)
        _ = try run(program, ["init", "--ledger", ledger])
        _ = try run(program, ["import", "--ledger", ledger, damaged.path])
        let found = try compare(folder)
        #expect(found.contains(" rows compared, 0 differences"), "MESHLEDGER_SEED=\(seed): \(found)")
    }
}

/// A Python that has the official decoder: `$MESHLEDGER_PYTHON`, else the one that `Tools/test` makes.
enum OraclePython {
    static let path: String? = {
        let made = PackageRoot.url.appendingPathComponent(".tools/venv/bin/python").path
        let wanted = ProcessInfo.processInfo.environment["MESHLEDGER_PYTHON"] ?? made
        return FileManager.default.isExecutableFile(atPath: wanted) ? wanted : nil
    }()
}

struct ProgramFailure: Error {
    var text: String
}
