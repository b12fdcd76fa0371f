import Foundation
import MeshLedger
import TestKit
import Testing

@testable import MeshTables

/// What other programs read of Arrow, Parquet and lakes.
@Suite(.enabled(if: LakePython.path != nil, "needs a Python with DuckDB, polars, pyarrow and deltalake, which Tools/test makes"))
struct FormatsTests {
    private static let subjects = [
        "positions", "nodes", "messages", "waypoints", "traceroutes", "links", "gateways", "gateway_nodes", "mapreports",
        "sensors",
        "nodehistory", "hardware", "radios", "packets", "receptions", "packet_events", "channels", "quarantine", "archived",
        "references", "unknown_telemetry",
        "events", "telemetry", "telemetry --kind device", "telemetry --kind environment", "positions --precision 1km",
        "mapreports --precision 14", "messages --limit 3",
    ]

    private func ledger(in folder: TemporaryFolder, packets: Int) throws -> String {
        let (program, ledger) = (try BuiltProgram.url(), folder.file("mesh.ledger").path)
        if packets > 0 {
            try Program.run(program, ["init", ledger])
            let simulated = [
                "simulate", "--seed", "5", "--nodes", "30", "--packets", "\(packets)", "--start", "2026-05-28T20:26:40Z",
            ]
            try Program.run(program, simulated + ["--ledger", ledger])
        } else {
            try Program.run(program, ["init", ledger])
        }
        return ledger
    }

    @Test(.timeLimit(.minutes(20)), arguments: [0, 300])
    func `every reader finds every value of every column as JSON lines have it`(packets: Int) throws {
        let folder = try TemporaryFolder()
        let ledger = try ledger(in: folder, packets: packets)
        let arguments = [try BuiltProgram.url().path, ledger, folder.file("exports").path] + Self.subjects
        let said = try LakePython.run("compare.py", arguments)
        #expect(said.contains("values agree"))
    }

    @Test(.timeLimit(.minutes(20)))
    func `every reader finds every value of a lake, exact and less exact`() throws {
        let folder = try TemporaryFolder()
        let (program, ledger) = (try BuiltProgram.url(), try ledger(in: folder, packets: 300))
        for more in [[], ["--precision", "1km"]] {
            let lake = folder.file("lake\(more.count)").path
            try Program.run(program, ["lake", "write", lake, "--ledger", ledger] + more)
            try LakePython.run("lake.py", [program.path, ledger, lake] + more)
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func `a lake keeps to a late key, an erasure and kills, as readers of Delta see it`() throws {
        let folder = try TemporaryFolder()
        let seed = UInt64.random(in: 0..<1 << 32)
        let said = try LakePython.run("life.py", [try BuiltProgram.url().path, folder.path, "2", "\(seed)"])
        #expect(said.contains("2 kills"), "seed \(seed): \(said)")
    }

    @Test(.timeLimit(.minutes(20)))
    func `every reader finds the answers of SQL as JSON lines have them, each column with its type`() throws {
        let folder = try TemporaryFolder()
        let ledger = try ledger(in: folder, packets: 300)
        let said = try LakePython.run("answers.py", [try BuiltProgram.url().path, ledger, folder.path])
        #expect(said.contains("values of answers agree"))
    }

    /// Of 63 commits, those before the last checkpoint are gone: only it says which files there are.
    @Test(.timeLimit(.minutes(2))) func `a log of many versions stays readable through its checkpoints`() throws {
        let folder = try TemporaryFolder()
        let table = folder.file("things").path
        let schema = DeltaLog.schema(
            TableSchema(
                name: "things", columns: [ColumnSchema("number", .int64), ColumnSchema("text", .utf8, meaning: "A \"text\".")]))
        var log = try DeltaLog(table)
        for version in 0..<63 {
            let number = version % 20
            let day: JSONValue = number == 0 ? .null : .string("2026-01-\(number + 10)")
            let file = DeltaLog.File(path: "day=\(number)/part-\(version).zstd.parquet", day: day, size: 100, rows: 3)
            let gone = log.live.values.filter { $0.day == day }.map(\.path)
            try log.commit("things", schema: schema, adding: [file], removing: gone)
            if version % 25 == 0 { log = try DeltaLog(table) }
        }
        func commits() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: table + "/_delta_log").count { $0.hasSuffix(".json") }
        }
        #expect(try commits() == 63)
        try log.removeOldCommits(keptSince: DeltaLog.now - 3_600_000)
        #expect(try commits() == 63, "what can still be read is kept")
        try log.removeOldCommits(keptSince: DeltaLog.now + 60_000)
        #expect(try commits() == 3)
        let again = try DeltaLog(table)
        #expect(again.version == 62 && again.live.count == 20 && again.schema == schema && again.checkpoint == 60)
        #expect(Set(again.live.keys) == Set(log.live.keys))
        #expect(again.live.values.allSatisfy { $0.rows == 3 && $0.size == 100 })
        #expect(try LakePython.run("versions.py", [table, "62", "20"]).contains("3 commits are left"))
        try FileManager.default.removeItem(atPath: table + "/_delta_log/00000000000000000060.json")
        #expect(throws: TableError.self) { try DeltaLog(table) }
    }

    private struct Hostile {
        var text: String?
        var name: String?
        var number: Int64?
        var count: UInt64
        var double: Double?
        var float: Float
        var truth: Bool?
        var list: [String]
        var day = 0
    }

    private static func metric(_ row: Int, _ place: Int) -> Float? { (row + place) % 7 == 0 ? nil : Float(row * place) }

    private static func regular(_ index: Int) -> Hostile {
        let sign: Int64 = index % 2 == 0 ? 1 : -1
        let double: Double? = index % 5 == 0 ? nil : Double(index) / 7
        return Hostile(
            text: "\(index)", name: "n\(index % 300)", number: Int64(index) * 1_000_003 * sign, count: UInt64(index),
            double: double, float: Float(index), truth: index % 1_000 == 0 ? nil : true, list: [])
    }

    /// What a JSON line says of a value: numbers that JSON does not have are texts.
    private func json(_ row: Hostile) throws -> Data {
        var object: [String: Any] = [
            "count": row.count, "float": "\(Double(row.float))", "list": row.list, "nothing": NSNull(), "empty": "",
        ]
        object["text"] = row.text ?? NSNull()
        object["name"] = row.name ?? NSNull()
        object["number"] = row.number ?? NSNull()
        object["double"] = row.double.map { "\($0)" } ?? NSNull()
        object["truth"] = row.truth ?? NSNull()
        return try JSONSerialization.data(withJSONObject: object)
    }

    private static let columns: [TableColumn<Hostile>] = [
        TableColumn("text", .optionalText { $0.text }), TableColumn("name", .name { $0.name }),
        TableColumn("number", .optional { $0.number }), TableColumn("count", .number { $0.count }),
        TableColumn("double", .optional { $0.double }, unit: "°"), TableColumn("float", .number { $0.float }),
        TableColumn("truth", .optional { $0.truth }), TableColumn("list", .texts { $0.list }),
        TableColumn("nothing", .optional { _ in Int32?.none }), TableColumn("empty", .text { _ in "" }),
    ]

    /// As both forms of Arrow and as JSON lines, with which `hostile.py` compares a Parquet file of the same name.
    private func write(_ rows: [Hostile], _ name: String, into folder: TemporaryFolder) throws {
        for (isFile, ending) in [(false, "arrows"), (true, "arrow")] {
            let output = MemoryOutput()
            let table = try TableExport(name, Self.columns, format: .arrow, isFile: isFile, to: output)
            for row in rows { table.write(row) }
            try table.finish()
            try Data(output.bytes).write(to: folder.file("\(name).\(ending)"))
        }
        var lines = Data()
        for row in rows {
            lines.append(try json(row))
            lines.append(UInt8(ascii: "\n"))
        }
        try lines.write(to: folder.file("\(name).jsonl"))
    }

    @Test(.timeLimit(.minutes(20)))
    func `a lake's days have the same rows however little memory they may take, those without new rows for long among them`()
        throws
    {
        let folder = try TemporaryFolder()
        // The first day has only the first rows, the second one early and late ones; the others take turns.
        func day(_ index: Int) -> Int { index < 6_000 ? index % 2 : index > 28_000 ? 1 : 2 + index % 3 }
        let rows = (0..<30_000).map { index in
            var row = Self.regular(index)
            row.day = day(index)
            return row
        }
        let table = LakeTable("days", view: nil, Self.columns, seconds: { Int64($0.day) * 86_400 }) { $0(rows) }
        typealias Writer = LakeTableWriter<Hostile>
        func parts(_ name: String, _ limits: Writer.Limits) throws -> [Writer.Part] {
            try FileManager.default.createDirectory(atPath: folder.path + "/\(name)", withIntermediateDirectories: false)
            var writer = Writer(table, path: folder.path + "/\(name)", seed: 7, days: nil, limits: limits)
            try writer.write(table.forEach)
            return try writer.finish()
        }
        let (whole, little) = (try parts("whole", .init()), try parts("little", .init(mostBytes: 1 << 18, rowsUntilCheck: 512)))
        #expect(little.map(\.digest) == whole.map(\.digest) && little.map(\.digest.count) == whole.map(\.digest.count))
        #expect(zip(little, whole).allSatisfy { $0.size > $1.size }, "each has more groups of rows")
        for (day, part) in little.enumerated() {
            try write(rows.filter { $0.day == day }, "day\(day)", into: folder)
            try FileManager.default.moveItem(
                atPath: folder.path + "/little/" + part.path, toPath: folder.path + "/day\(day).parquet")
        }
        #expect(try LakePython.run("hostile.py", [folder.path]).contains("hostile values agree"))
    }

    @Test(.timeLimit(.minutes(20)))
    func `hostile texts and numbers survive all formats alike, among them 70,000 rows and none`() throws {
        let texts: [String?] = [
            nil, "", "\u{0}", "a\u{0}b", "\u{fffd}", "é", "e\u{301}", "\u{202e}abc", "\"\\\n\r\t", "👩‍👩‍👧", "\u{feff}",
            String(repeating: "x", count: 65_536), String(repeating: "ü", count: 40_000), "=1+1",
        ]
        let doubles: [Double?] = [
            nil, .nan, .infinity, -.infinity, 0, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
        ]
        let numbers: [Int64?] = [nil, .min, .max, 0, -1, 1 << 53]
        let floats: [Float] = [.nan, .infinity, -.infinity, -0.0, 0.1, .leastNonzeroMagnitude]
        let counts: [UInt64] = [0, .max, 1 << 63, 5]
        let truths: [Bool?] = [nil, true, false]
        let rows: [Hostile] = (0..<400).map { (index: Int) -> Hostile in
            let list: [String] = texts.prefix(index % 4).map { $0 ?? "nil" }
            return Hostile(
                text: texts[index % texts.count], name: texts[index * 7 % texts.count], number: numbers[index % numbers.count],
                count: counts[index % 4], double: doubles[index % doubles.count], float: floats[index % 6],
                truth: truths[index % 3], list: list)
        }
        let many: [Hostile] = (0..<70_000).map(Self.regular)
        let folder = try TemporaryFolder()
        for (name, rows) in [("hostile", rows), ("many", many), ("none", []), ("one", Array(rows.prefix(1)))] {
            try write(rows, name, into: folder)
            let output = MemoryOutput()
            let table = try TableExport(name, Self.columns, format: .parquet, isFile: false, to: output)
            for row in rows { table.write(row) }
            try table.finish()
            try Data(output.bytes).write(to: folder.file("\(name).parquet"))
        }
        #expect(try LakePython.run("hostile.py", [folder.path]).contains("hostile values agree"))
    }

    @Test(.timeLimit(.minutes(20)))
    func `three hundred columns are read by every reader`() throws {
        let columns: [TableColumn<Int>] = (0..<300).map { (place: Int) -> TableColumn<Int> in
            TableColumn("metric_\(place)", .optional { (row: Int) -> Float? in Self.metric(row, place) })
        }
        let folder = try TemporaryFolder()
        for (format, isFile, ending) in [
            (TableFormat.arrow, false, "arrows"), (.arrow, true, "arrow"), (.parquet, false, "parquet"),
        ] {
            let output = MemoryOutput()
            let table = try TableExport("wide", columns, format: format, isFile: isFile, to: output)
            for row in 0..<500 { table.write(row) }
            try table.finish()
            try Data(output.bytes).write(to: folder.file("wide.\(ending)"))
        }
        let lines: [String] = (0..<500).map { (row: Int) -> String in
            let members: [String] = (0..<300).map { (place: Int) -> String in
                let value = Self.metric(row, place).map { "\"\($0)\"" } ?? "null"
                return "\"metric_\(place)\":\(value)"
            }
            return "{" + members.joined(separator: ",") + "}\n"
        }
        try Data(lines.joined().utf8).write(to: folder.file("wide.jsonl"))
        #expect(try LakePython.run("hostile.py", [folder.path]).contains("hostile values agree"))
    }
}

extension FormatsTests {
    /// Positions in the clear that were heard directly, whose SNR is NaN or infinite.
    private static func oddPackets(in folder: TemporaryFolder) throws -> String {
        func fixed(_ number: UInt8, _ value: UInt32) -> [UInt8] {
            [number << 3 | 5] + (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func bytes(_ number: UInt8, _ value: [UInt8]) -> [UInt8] { [number << 3 | 2, UInt8(value.count)] + value }
        let lines = [Float.nan, .infinity, -.infinity, 7].enumerated().map { index, snr in
            let position = fixed(1, 474_000_000) + fixed(2, 85_000_000) + fixed(4, 1_779_999_000)
            let packet =
                fixed(1, 0x0102_0304) + fixed(2, .max) + bytes(4, [8, 3] + bytes(2, position)) + fixed(6, 77 + UInt32(index))
                + fixed(7, 1_779_999_000 + UInt32(index)) + fixed(8, snr.bitPattern) + [9 << 3, 3, 15 << 3, 3]
            let envelope = bytes(1, packet) + bytes(2, Array("LongFast".utf8)) + bytes(3, Array("!0a0b0c0d".utf8))
            return Data(envelope).base64EncodedString()
        }
        let file = folder.file("odd.b64")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        return file.path
    }

    /// Each recipe of the article three times: as SQL of the ledger, with DuckDB and with polars over the lake.
    @Test(.timeLimit(.minutes(20)))
    func `the recipes of the article give the same answer in SQL, DuckDB and polars`() throws {
        let folder = try TemporaryFolder()
        let (program, article) = (try BuiltProgram.url(), try Document.named("Recipes"))
        let script = """
            set -euo pipefail
            cd \(folder.path); PATH=\(program.deletingLastPathComponent().path):$PATH; export MESHLEDGER=$PWD/mesh.ledger
            meshledger init; meshledger keys add Harbour --psk AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
            meshledger simulate --seed 1 --nodes 12 --packets 3000
            meshledger import \(try Self.oddPackets(in: folder))
            \(article.blocks(in: "sh").map(\.text).joined())
            """
        try Program.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        let path = PackageRoot.url.appendingPathComponent("Sources/MeshLedger/MeshLedger.docc/Recipes.md").path
        let said = try LakePython.run("recipes.py", [program.path, folder.path, path])
        #expect(said.contains("5 recipes agree"), "\(said)")
    }

    @Test(.timeLimit(.minutes(20)))
    func `the examples in Python of the article run after its commands`() throws {
        let (folder, article) = (try TemporaryFolder(), try Document.named("Analytics"))
        let program = try BuiltProgram.url()
        let commands = article.blocks(in: "sh").map(\.text).joined()
        let script = """
            set -euo pipefail
            cd \(folder.path); PATH=\(program.deletingLastPathComponent().path):$PATH; export MESHLEDGER=$PWD/mesh.ledger
            meshledger init; meshledger simulate --seed 1 --nodes 20 --packets 500
            \(commands)
            """
        try Program.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        let examples = article.blocks(in: "python")
        #expect(examples.count == 3)
        for example in examples {
            let python = try #require(LakePython.path)
            let file = folder.file("example.py")
            try Data("import os\nos.chdir('\(folder.path)')\n\(example.text)".utf8).write(to: file)
            #expect(try Program.run(URL(fileURLWithPath: python), [file.path]).count > 50, "\(example)")
        }
    }
}
