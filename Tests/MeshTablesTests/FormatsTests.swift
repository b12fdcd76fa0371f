import Foundation
import MeshTables
import TestKit
import Testing

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

    @Test(.timeLimit(.minutes(5)), arguments: [0, 300])
    func `every reader finds every value of every column as JSON lines have it`(packets: Int) throws {
        let folder = try TemporaryFolder()
        let ledger = try ledger(in: folder, packets: packets)
        let arguments = [try BuiltProgram.url().path, ledger, folder.file("exports").path] + Self.subjects
        let said = try LakePython.run("compare.py", arguments)
        #expect(said.contains("values agree"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `every reader finds every value of a lake, exact and less exact`() throws {
        let folder = try TemporaryFolder()
        let (program, ledger) = (try BuiltProgram.url(), try ledger(in: folder, packets: 300))
        for more in [[], ["--precision", "1km"]] {
            let lake = folder.file("lake\(more.count)").path
            try Program.run(program, ["lake", "write", lake, "--ledger", ledger] + more)
            try LakePython.run("lake.py", [program.path, ledger, lake] + more)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a lake keeps to a late key, an erasure and kills, as readers of Delta see it`() throws {
        let folder = try TemporaryFolder()
        let seed = UInt64.random(in: 0..<1 << 32)
        let said = try LakePython.run("life.py", [try BuiltProgram.url().path, folder.path, "2", "\(seed)"])
        #expect(said.contains("2 kills"), "seed \(seed): \(said)")
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

    @Test(.timeLimit(.minutes(5)))
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
        let columns: [TableColumn<Hostile>] = [
            TableColumn("text", .optionalText { $0.text }), TableColumn("name", .name { $0.name }),
            TableColumn("number", .optional { $0.number }), TableColumn("count", .number { $0.count }),
            TableColumn("double", .optional { $0.double }, unit: "°"), TableColumn("float", .number { $0.float }),
            TableColumn("truth", .optional { $0.truth }), TableColumn("list", .texts { $0.list }),
            TableColumn("nothing", .optional { _ in Int32?.none }), TableColumn("empty", .text { _ in "" }),
        ]
        let folder = try TemporaryFolder()
        for (name, rows) in [("hostile", rows), ("many", many), ("none", []), ("one", Array(rows.prefix(1)))] {
            for (format, isFile, ending) in [
                (TableFormat.arrow, false, "arrows"), (.arrow, true, "arrow"), (.parquet, false, "parquet"),
            ] {
                let output = MemoryOutput()
                let table = try TableExport(name, columns, format: format, isFile: isFile, to: output)
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
        #expect(try LakePython.run("hostile.py", [folder.path]).contains("hostile values agree"))
    }

    @Test(.timeLimit(.minutes(5)))
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
    @Test(.timeLimit(.minutes(5)))
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
