import Foundation
import MeshTables
import TestKit
import Testing

@testable import MeshCommands

/// `meshledger sql`, and the library by which other programs' SQLite reads a ledger.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct SQLCommands {
    private func filled(_ packets: Int = 400) throws -> Tool {
        let tool = try Tool()
        #expect(try tool.run("init").status == 0)
        #expect(try tool.run("simulate", "--seed", "3", "--nodes", "12", "--packets", "\(packets)").status == 0)
        return tool
    }

    @Test func `an answer comes in the formats of the other commands, and equals theirs`() throws {
        let tool = try filled()
        let text = "SELECT node, long_name, packets FROM nodes ORDER BY node"
        let rows = try tool.run("sql", text, "--format", "jsonl").objects
        let listed = try tool.run("export", "nodes", "--format", "jsonl").objects
        #expect(rows.count == listed.count && !rows.isEmpty)
        for row in rows {
            let other = try #require(listed.first { $0["node"] as? String == row["node"] as? String })
            #expect(row["long_name"] as? String == other["long_name"] as? String)
            #expect(row["packets"] as? Int == other["packets"] as? Int)
        }
        let csv = try tool.run("sql", text, "--format", "csv").lines
        #expect(csv.first == "node,long_name,packets" && csv.count == rows.count + 1)
        #expect(try tool.run("sql", text).lines.first?.hasPrefix("node") == true)
        let json = try tool.run("sql", "SELECT NULL AS a, 1.5 AS b, x'0a' AS c, 'é' AS d", "--format", "json").output
        #expect(json == "[\n{\"a\":null,\"b\":1.5,\"c\":\"0a\",\"d\":\"é\"}\n]\n")
        let two = try tool.run("sql", "SELECT 1 AS a; SELECT 2 AS b;", "--format", "jsonl")
        #expect(two.output == "{\"a\":1}\n{\"b\":2}\n")
    }

    @Test func `values stand for parameters, whatever is in them`() throws {
        let tool = try filled()
        let hostile = "'; DROP TABLE nodes; --\u{1b}[31m"
        let echoed = try tool.run("sql", "SELECT ? AS a, ? + 1 AS b, typeof(?2) AS c", hostile, "41", "--format", "jsonl")
        #expect(echoed.objects.first?["a"] as? String == hostile)
        #expect(echoed.objects.first?["b"] as? Int == 42 && echoed.objects.first?["c"] as? String == "integer")
        #expect(!(try tool.run("sql", "SELECT ? AS a", hostile).output.contains("\u{1b}")))
        let lack = try tool.run("sql", "SELECT ?, ?", "1")
        #expect(lack.status == 64 && lack.errors.contains("2 parameters"))
    }

    @Test func `commands of the prompt may be arguments, and nothing that is given is ignored`() throws {
        let tool = try filled(50)
        #expect(try tool.run("sql", ".tables event").output == "events\npacket_events\n")
        let tables = try tool.run("sql", ".tables")
        #expect(tables.status == 0 && tables.lines.contains("positions") && tables.lines.contains("quarantine"))
        let schema = try tool.run("sql", ".mode jsonl\n.schema positions")
        #expect(schema.objects.contains { $0["column"] as? String == "altitude" && $0["unit"] as? String == "m" })
        for (refused, reason) in [
            ([".schema", "positions"], "takes no values"), ([".schema nope"], "no table nope"), ([".nope"], ".help"),
            (["SELECT ?", "1", "2"], "1 parameters, and there are 2 values"), (["SELECT 1", "2"], "0 parameters"),
        ] {
            let outcome = try tool.start(["sql"] + refused).wait()
            #expect(outcome.status == 64 && outcome.errors.contains(reason) && outcome.output.isEmpty, "\(outcome)")
        }
        let shared = try tool.run("sql", "SELECT ? AS a; SELECT ? AS b, ? AS c", "1", "2", "--format", "jsonl")
        #expect(shared.output == "{\"a\":1}\n{\"b\":1,\"c\":2}\n")
        let every = try tool.run("lake", "write", tool.folder.file("lake").path, "--every", "5")
        #expect(every.status == 64 && every.errors.contains("--follow"))
    }

    @Test func `rows that an older recipe made are known in SQL as in exports`() throws {
        let tool = try filled(1_500)
        func asked() throws -> Tool.Outcome {
            try tool.run("sql", "SELECT older_recipe FROM positions WHERE older_recipe IS NOT NULL", "--format", "jsonl")
        }
        #expect(try asked().errors.contains("no such column"))
        #expect(try tool.run("storage", "retain", "--larger-than", "100KB", "--yes").status == 0)
        let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        #expect(try tool.run("keys", "add", "Harbour", "--psk", key, "--yes").status == 0)
        let exported = try tool.run("export", "positions", "--format", "jsonl").objects
        let older = exported.compactMap { $0["older_recipe"] as? String }
        #expect(!older.isEmpty && older.count < exported.count)
        #expect(try asked().objects.compactMap { $0["older_recipe"] as? String } == older)
        #expect(try tool.run("sql", ".schema telemetry_device").output.contains("older_recipe"))
        let arrow = try tool.run(
            "sql", "SELECT * FROM positions", "--format", "arrow", "--output", tool.folder.file("x.arrow").path)
        #expect(arrow.status == 0, "\(arrow)")
    }

    @Test func `a value is a number only if it is written as one`() throws {
        let tool = try Tool(holding: [Line.node(1, long: "One", short: "0012"), Line.text("call 12 now", from: 1)])
        func count(_ condition: String, _ value: String) throws -> Int? {
            try tool.run("sql", "SELECT count(*) AS n FROM \(condition)", value, "--format", "jsonl").objects.first?["n"] as? Int
        }
        #expect(try count("nodes WHERE short_name = ?", "0012") == 1)
        #expect(try count("messages WHERE text MATCH ?", "12") == 1)
        #expect(SQLCommand.value("12") == .integer(12) && SQLCommand.value("0.5") == .real(0.5))
        for text in ["007", "-", "1-2"] { #expect(SQLCommand.value(text) == .text(text)) }
    }

    @Test func `packets that name no node as their sender are found by every condition`() throws {
        let senders: [UInt32] = [1, 0, .max, 0, 5]
        let tool = try Tool(holding: senders.enumerated().map { Line.text("\($0)", from: $1, time: 1_760_000_000 + $0) })
        func found(_ condition: String) throws -> [Int] {
            let text = "SELECT first_sequence AS s FROM packets WHERE \(condition) ORDER BY 1"
            return try tool.run("sql", text, "--format", "jsonl").objects.compactMap { $0["s"] as? Int }
        }
        #expect(try found("true") == [1, 2, 3, 4, 5])
        #expect(try found("first_sequence >= 2") == [2, 3, 4, 5])
        #expect(try found("\"from\" = '!00000000'") == [2, 4])
        #expect(try found("time >= 1760000002") == [3, 4, 5])
        #expect(try found("first_sequence BETWEEN 2 AND 3") == [2, 3])
        let listed = try tool.run("packets", "--format", "jsonl", "--where", "first_sequence>=2").objects
        #expect(listed.count == 4)
    }

    @Test func `wrong SQL ends with 64 and what SQLite says, and nothing is ever written`() throws {
        let tool = try filled(50)
        for (text, reason) in [
            ("SELEC", "syntax error"), ("SELECT nope FROM nodes", "no such column: nope"),
            ("SELECT * FROM nope", "no such table"),
            ("DELETE FROM nodes", "may not be modified"), ("CREATE TABLE t(x)", "read-only"),
            ("VACUUM INTO '\(tool.folder.path)/copy.db'", "read-only"),
            ("ATTACH '\(tool.folder.path)/other.db' AS o", "ATTACH is refused"),
        ] {
            let outcome = try tool.run("sql", text)
            #expect(outcome.status == 64 && outcome.errors.contains(reason), "\(text): \(outcome.errors)")
            #expect(outcome.errors.split(whereSeparator: \.isNewline).count == 1, "\(outcome.errors)")
        }
        for name in ["copy.db", "other.db"] { #expect(!FileManager.default.fileExists(atPath: tool.folder.path + "/" + name)) }
        let missing = try tool.start(["sql", "SELECT 1"], environment: ["MESHLEDGER": "/nowhere/at/all"]).wait()
        #expect(missing.status == 66 && missing.errors.contains("/nowhere/at/all"))
    }

    @Test func `statements also come from standard input, and a wrong one ends the run`() throws {
        let tool = try filled(50)
        func ask(_ text: String) throws -> Tool.Outcome {
            let file = tool.folder.file("input.sql")
            try Data(text.utf8).write(to: file)
            return try tool.start(["sql"], input: try FileHandle(forReadingFrom: file)).wait()
        }
        let answer = try ask(".mode jsonl\nSELECT ';' AS a -- ;\n;\nSELECT 2 AS b; .nothing\n.tables\n.quit\nSELECT 3;\n")
        #expect(answer.status == 64)
        let good = try ask(
            ".mode jsonl\nSELECT ';' AS a -- ;\n;\nSELECT 2 AS b\n;\n.tables\n.schema positions\n.help\n.quit\nSELECT 3;\n")
        #expect(good.status == 0, "\(good.errors)")
        #expect(good.output.hasPrefix("{\"a\":\";\"}\n{\"b\":2}\narchived\n"))
        #expect(good.output.contains("\"column\":\"altitude\",\"type\":\"INTEGER\",\"unit\":\"m\""))
        #expect(good.output.contains("\"column\":\"time\",\"type\":\"INTEGER\",\"unit\":\"s since 1970\""))
        #expect(!good.output.contains("3}"))
        #expect(try ask("SELECT nope;\nSELECT 1;").status == 64)
        #expect(try ask("SELECT 5 AS a").output.contains("5"))
    }

    @Test func `a statement is complete at a semicolon outside of texts and comments`() {
        for text in ["SELECT 1;", "SELECT ';' ; -- end", "SELECT [a;]; /* ; */", "-- nothing", "", ";"] {
            #expect(SQLPrompt.isComplete(text), "\(text)")
        }
        for text in ["SELECT 1", "SELECT ';", "SELECT 1 -- ;", "SELECT 1 /* ; ", "SELECT \"a;\"", "SELECT 1; SELECT 2"] {
            #expect(!SQLPrompt.isComplete(text), "\(text)")
        }
    }

    private static let library = try? BuiltProgram.tested("libMeshLedgerExtension.so")

    private func extensionCopy(_ tool: Tool) throws -> String {
        let path = tool.folder.file("libmeshledger.so").path
        try FileManager.default.copyItem(atPath: try #require(Self.library).path, toPath: path)
        return path
    }

    @Test func `Debian's sqlite3 reads a ledger through the library`() throws {
        let tool = try filled()
        let path = try extensionCopy(tool)
        let program = URL(fileURLWithPath: "/usr/bin/sqlite3")
        func ask(_ environment: [String: String], _ statements: String...) throws -> FinishedProcess {
            let arguments = [tool.folder.file("own.db").path, ".load \(path.dropLast(3))"] + statements
            return try FinishedProcess(program, arguments, adding: environment)
        }
        let count = try tool.run("sql", "SELECT count(*) FROM positions", "--format", "csv").lines.last.map(String.init)
        let named = try ask(["MESHLEDGER": tool.ledger], "SELECT count(*) FROM positions;")
        #expect(named.status == 0 && named.text.split(separator: "\n").map(String.init) == [count], "\(named.text)")
        let opened = try ask(
            ["MESHLEDGER": ""], "SELECT meshledger_open('\(tool.ledger)') > 20;", "SELECT count(*) FROM temp.positions;",
            "CREATE VIRTUAL TABLE places USING meshledger('\(tool.ledger)', 'positions');")
        #expect(opened.status == 0 && opened.text.split(separator: "\n").map(String.init) == ["1", count], "\(opened.text)")
        let other = tool.folder.file("other.ledger").path
        #expect(try tool.run("init", other).status == 0)
        let second = try ask(
            ["MESHLEDGER": tool.ledger], "SELECT meshledger_open('\(tool.ledger)') > 20;", "SELECT meshledger_open('\(other)');")
        #expect(second.status != 0 && second.text.contains("has the tables of \(tool.ledger)"), "\(second.text)")
        let kept = try ask(
            ["MESHLEDGER": ""], "SELECT count(*) FROM places;", "EXPLAIN QUERY PLAN SELECT * FROM places WHERE node = '!1';")
        #expect(kept.status == 0 && kept.text.contains("key: node="), "\(kept.text)")
        #expect(kept.text.split(separator: "\n").first.map(String.init) == count)
        let none = try ask(["MESHLEDGER": ""], "CREATE VIRTUAL TABLE temp.nodes USING meshledger;")
        #expect(none.status != 0 && none.text.contains("no ledger is named"), "\(none.text)")
        let wrong = try ask(["MESHLEDGER": "/nowhere"], "SELECT 1;")
        #expect(wrong.text.contains("/nowhere"), "\(wrong.text)")
    }

    /// Each statement sees what was committed before it, and all of its tables at one moment; a running one keeps seeing the same.
    @Test func `Python's sqlite3 reads the live ledger beside a writer`() throws {
        let tool = try filled()
        let script = """
            sqlite3, subprocess, sys = map(__import__, ("sqlite3", "subprocess", "sys"))
            program, library = sys.argv[1:]
            db = sqlite3.connect(":memory:")
            db.enable_load_extension(True)
            db.load_extension(library)
            one = lambda text, *values: db.execute(text, values).fetchone()
            before = one("SELECT count(*) FROM events")[0]
            running = db.execute("SELECT sequence FROM events ORDER BY sequence")
            next(running)
            for turn in range(3):
                subprocess.run([program, "simulate", "--seed", str(turn + 50), "--nodes", "12", "--packets", "300",
                    "--start", "2026-06-0%d" % (turn + 1)], check=True, stdout=subprocess.DEVNULL)
            assert sum(1 for row in running) == before - 1, "a running statement sees later events"
            after = one("SELECT count(*), max(checkpoint) FROM events")
            assert after[0] == before + 900, after
            both = one("SELECT (SELECT max(checkpoint) FROM nodes), (SELECT max(checkpoint) FROM positions), (SELECT max(checkpoint) FROM links)")
            assert both == (after[0],) * 3, both
            node = one("SELECT node FROM positions GROUP BY node ORDER BY count(*) DESC LIMIT 1")[0]
            rows = db.execute("SELECT time FROM positions WHERE node = ? ORDER BY time DESC LIMIT 5", (node,)).fetchall()
            assert len(rows) == 5 and rows == sorted(rows, reverse=True), rows
            for text in ["SELECT * FROM nodes WHERE as_of = 'x'", "SELECT nope FROM nodes", "DELETE FROM nodes"]:
                try:
                    db.execute(text).fetchall()
                    raise AssertionError(text)
                except sqlite3.OperationalError:
                    pass
            other = sqlite3.connect(":memory:")
            other.enable_load_extension(True)
            other.load_extension(library)
            assert other.execute("SELECT count(*) FROM events").fetchone()[0] == after[0]
            other.close()
            db.close()
            print("fine")
            """
        let file = tool.folder.file("read.py")
        try Data(script.utf8).write(to: file)
        let path = try extensionCopy(tool)
        let run = try FinishedProcess(
            URL(fileURLWithPath: "/usr/bin/python3"), [file.path, Tool.program.path, path], adding: ["MESHLEDGER": tool.ledger])
        #expect(run.status == 0 && run.text.hasSuffix("fine\n"), "\(run.text)")
    }

    @Test func `the library calls SQLite only through what its host passes it`() throws {
        let symbols = try FinishedProcess(URL(fileURLWithPath: "/usr/bin/nm"), ["-D", try #require(Self.library).path]).text
        let lines = symbols.split(separator: "\n")
        #expect(lines.contains { $0.hasSuffix(" T sqlite3_meshledger_init") })
        #expect(!lines.contains { $0.contains(" U sqlite3") })
    }

    private static let isTestedInRelease = ProcessInfo.processInfo.environment["MESHLEDGER_TESTED_PROGRAM"] != nil

    @Test(.enabled(if: isTestedInRelease, "needs the library as built in release"))
    func `the library as users have it contains what it needs of Swift`() throws {
        let text = try FinishedProcess(URL(fileURLWithPath: "/usr/bin/readelf"), ["-d", try #require(Self.library).path]).text
        let needed = text.split(separator: "\n").filter { $0.contains("(NEEDED)") }
        #expect(!needed.isEmpty)
        for name in ["libswift", "Foundation", "libdispatch"] { #expect(!needed.contains { $0.contains(name) }, "\(needed)") }
    }
}
