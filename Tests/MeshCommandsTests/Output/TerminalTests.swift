import Foundation
import TestKit
import Testing

@testable import MeshCommands

extension Tool {
    fileprivate static let script = PackageRoot.url.appendingPathComponent("Tests/Oracle/terminal.py").path

    /// What a terminal shows.
    /// - Parameter until: when this has been shown, Control-C is pressed.
    func shown(
        _ arguments: [String], columns: Int = 100, lines: Int = 50, until: String = "", environment: [String: String] = [:]
    ) throws -> Outcome {
        let colours = ["NO_COLOR": "1", "TZ": "UTC", "TERM": "xterm", "PAGER": "cat"].merging(environment) { $1 }
        let starter = ["/usr/bin/env", "python3", Self.script, "\(columns)", "\(lines)", until, Tool.program.path]
        return try start(arguments, environment: colours, by: starter).wait()
    }
}

/// What people see: on a pseudo-terminal that Python makes.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct TerminalTests {
    private func shown(
        _ tool: Tool, _ arguments: String..., columns: Int = 100, lines: Int = 50, until: String = "",
        environment: [String: String] = [:]
    ) throws -> Tool.Outcome {
        try tool.shown(arguments, columns: columns, lines: lines, until: until, environment: environment)
    }

    private static let words = (1...30).map { "word\($0)" }.joined(separator: " ")

    @Test(arguments: [60, 80, 120]) func `a table is as wide as the terminal, and its text is last, wrapped and whole`(
        columns: Int
    ) throws {
        let tool = try Tool(holding: [Line.node(1, long: "A node with a long name", short: "n"), Line.text(Self.words, from: 1)])
        let outcome = try shown(tool, "messages", columns: columns)
        let lines = outcome.lines
        #expect(outcome.status == 0 && lines.allSatisfy { $0.count <= columns }, "\(outcome)")
        #expect(lines[0].hasSuffix("text") && lines.count > 2, "\(outcome)")
        let found = outcome.output.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("word") }.joined(separator: " ")
        #expect(found == Self.words, "\(outcome)")
        let wide = try shown(tool, "messages", "--wide", columns: columns)
        #expect(wide.lines.count == 2 && wide.lines[1].contains(Self.words), "\(wide)")
    }

    @Test func `times are local with their zone on a terminal, and UTC with --utc and for programs`() throws {
        let tool = try Tool(holding: [Line.text("in winter", from: 1, time: 1_767_225_600), Line.text("in summer", from: 1)])
        let berlin = ["TZ": "Europe/Berlin"]
        let local = try shown(tool, "messages", environment: berlin)
        #expect(
            local.output.contains("2026-01-01T01:00:00+01:00") && local.output.contains("2025-10-09T10:53:20+02:00"), "\(local)")
        let utc = try shown(tool, "messages", "--utc", environment: berlin)
        #expect(utc.output.contains("2026-01-01T00:00:00Z"), "\(utc)")
        #expect(try tool.run("messages", environment: berlin).output.contains("2026-01-01T00:00:00Z"))
        #expect(try shown(tool, "messages", "--format", "csv", environment: berlin).output.contains("2026-01-01T00:00:00Z"))
        let found = try tool.run("messages", "--since", "2026-01-01T01:00:00+01:00", "--format", "csv")
        #expect(found.lines.count == 2, "a time as it is shown is understood: \(found)")
    }

    @Test func `a time without a zone is of the zone that is shown, and a heading has an offset that all times share`() throws {
        let tool = try Tool(holding: [
            Line.text("at noon", from: 1, time: 1_767_265_200), Line.text("at one", from: 1, time: 1_767_268_800),
        ])
        let berlin = ["TZ": "Europe/Berlin"]
        let local = try shown(tool, "messages", "--since", "2026-01-01 12:30", environment: berlin)
        #expect(
            local.lines.count == 2 && local.lines[0].hasPrefix("time +01:00 ")
                && local.lines[1].hasPrefix("2026-01-01T13:00:00 "), "\(local)")
        for more in [["--utc"], ["--format", "csv"]] {
            let utc = try tool.start(
                ["messages", "--since", "2026-01-01 12:30"] + more, environment: berlin.merging(["TERM": "xterm"]) { $1 }
            ).wait()
            #expect(!utc.output.contains("at one") && !utc.output.contains("at noon"), "\(more): \(utc)")
        }
        let day = try shown(
            tool, "messages", "--since", "2026-01-01", "--until", "2026-01-02", "--bucket", "1d", environment: berlin)
        #expect(day.lines.count == 2, "\(day)")
    }

    @Test func `a narrow table keeps the columns by which rows are chosen and sorted`() throws {
        let lines = [
            Line.node(1, long: "A node with a long name", short: "long"),
            Line.position(1, latitudeE7: 525_000_000, longitudeE7: 134_000_000),
        ]
        let tool = try Tool(holding: lines + [Line.text("hello", from: 1)])
        let chosen = try shown(tool, "packets", "--where", "receptions>0", "--sort", "is_damaged", columns: 60)
        #expect(chosen.lines[0].contains("heard") && chosen.lines[0].contains("is damaged"), "\(chosen)")
        let places = try shown(tool, "positions", "--latest", columns: 80)
        #expect(places.lines[0].contains("latitude") && places.lines[0].contains("longitude"), "\(places)")
    }

    @Test(arguments: [
        (40, "packets", ["from", "port"]), (60, "packets", ["time", "from", "port"]), (60, "events", ["time", "from", "port"]),
        (80, "packets", ["sequence", "time", "from", "to", "port"]), (40, "messages", ["from", "text"]),
        (60, "messages", ["time", "from", "text"]), (40, "positions", ["node", "latitude", "longitude"]),
        (60, "positions", ["node", "time", "latitude", "longitude"]), (40, "nodes", ["node", "last heard"]),
    ])
    func `a narrow table keeps who, when and what`(columns: Int, list: String, kept: [String]) throws {
        let tool = try Tool(holding: [
            Line.node(0x1902_5c00, long: "A node with a long name", short: "long"),
            Line.position(0x1902_5c00, latitudeE7: 525_000_000, longitudeE7: 134_000_000),
            Line.text("hello, mesh: who can hear me out here?", from: 0x1902_5c00),
        ])
        let outcome = try shown(tool, list, columns: columns)
        let heading = outcome.lines[0]
        #expect(outcome.lines.allSatisfy { $0.count <= columns } && kept.allSatisfy(heading.contains), "\(outcome)")
    }

    @Test func `a pager that is not there takes nothing away`() throws {
        let tool = try Tool(holding: (1...100).map { Line.text("number \($0)", from: 7, time: 1_760_000_000 + $0) })
        for pager in ["/nonexistent", "no-such-pager -R"] {
            #expect(try shown(tool, "messages", lines: 10, environment: ["PAGER": pager]).output.contains("number 1\n"))
        }
    }

    @Test func `it says how many there are where not all are shown`() throws {
        let tool = try Tool(holding: (1...1_234).map { Line.text("number \($0)", from: 7, time: 1_760_000_000 + $0) })
        #expect(try shown(tool, "events").output.hasSuffix("(50 of 1,234; --limit and --offset show more)\n"))
        #expect(try shown(tool, "messages", "--limit", "3").output.hasSuffix("(3 of 1,234; --limit and --offset show more)\n"))
        #expect(try shown(tool, "packets", "--limit", "3").output.contains("\n(3 of "))
        #expect(
            try shown(tool, "messages", "--where", "text~9", "--sort", "text", "--limit", "2").output.contains("\n(2 of 312;"))
        #expect(try shown(tool, "events", "--port", "TEXT_MESSAGE_APP", "--offset", "1231").output.contains(" of ") == false)
        for list in ["packets", "events"] {
            let window = try shown(tool, list, "--since", "1760001195", "--limit", "2").output
            #expect(window.hasSuffix("\n(2 of 40; --limit and --offset show more)\n"), "\(window)")
        }
        #expect(try tool.run("messages", "--limit", "3", "--format", "csv").errors.isEmpty)
        #expect(try tool.run("events", "--limit", "3").errors.isEmpty, "no note where the limit was given, but on a terminal")
    }

    @Test(arguments: [
        (2, 1_234, 3, "2 of 1,234"), (2, nil, 3, "2, and there are more"), (2, nil, 1_235, "2 of more than 1,234"),
    ])
    func `where counting takes long, it says that there are more`(shown: Int, total: Int?, seen: Int, text: String) {
        let note = RowPage.note(shown, of: total.map { UInt64($0) }, atLeast: UInt64(seen))
        #expect(note == text + "; --limit and --offset show more")
    }

    @Test func `more than fits goes through the pager, less does not`() throws {
        let tool = try Tool(holding: (1...40).map { Line.text("number \($0)", from: 7, time: 1_760_000_000 + $0) })
        let pager = ["PAGER": "sed s/^/paged:/"]
        let long = try shown(tool, "messages", lines: 20, environment: pager)
        #expect(long.status == 0 && long.lines.count == 41 && long.lines.allSatisfy { $0.hasPrefix("paged:") }, "\(long)")
        let short = try shown(tool, "messages", "--limit", "5", lines: 20, environment: pager)
        #expect(short.lines.count == 7 && !short.output.contains("paged:"), "\(short)")
        for plain in [try shown(tool, "messages", "--no-pager", lines: 20, environment: pager), try tool.run("messages")] {
            #expect(plain.lines.count == 41 && !plain.output.contains("paged:"), "\(plain)")
        }
        let left = try shown(tool, "messages", lines: 20, environment: ["PAGER": "head -n 2"])
        #expect(left.status == 0 && left.lines.count == 2, "\(left)")
    }

    @Test func `--output writes to a file, as programs get it`() throws {
        let tool = try Tool(holding: [Line.text("hello", from: 1)])
        for format in ["table", "csv", "json", "jsonl"] {
            let file = tool.folder.file("out.\(format)")
            let outcome = try shown(tool, "messages", "--format", format, "--output", file.path)
            #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome)")
            let (written, printed) = (try String(contentsOf: file, encoding: .utf8), try tool.run("messages", "--format", format))
            #expect(written == printed.output)
        }
        let chart = tool.folder.file("chart").path
        try tool.run("messages", "--count-by", "from", "--chart", "--output", chart)
        let bars = try String(contentsOfFile: chart, encoding: .utf8)
        #expect(bars.contains("!00000001"))
        let refused = try tool.run("messages", "--output", "/nowhere/file")
        #expect(refused.status == 73 && refused.errors.contains("/nowhere/file"), "\(refused)")
    }

    @Test func `numbers of tables are rounded, places to a meter, units are in the heads`() throws {
        let tool = try Tool(holding: [Line.position(2, latitudeE7: 471_234_567, longitudeE7: 80_000_000)])
        let table = try tool.run("positions").output
        #expect(table.contains(" 47.12346 ") && table.contains(" 8 ") && table.contains("altitude m"), "\(table)")
        #expect(try tool.run("positions", "--format", "csv").output.contains("47.1234567"))
        #expect(try tool.run("view", "positions").output.contains(" 47.12346 "))
    }

    @Test func `stats fits a screen, and has no forecast of what was imported`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "1", "--nodes", "10", "--packets", "200")
        let screen = try shown(tool, "stats", columns: 80)
        #expect(screen.status == 0 && screen.lines.count <= 24 && screen.lines.allSatisfy { $0.count <= 80 }, "\(screen)")
        #expect(screen.output.contains(" 10 nodes, ") && !screen.output.contains("a day"), "\(screen)")
        let all = try tool.run("stats", "--all").output
        #expect(all.contains("\nnodes_checkpoint ") && all.contains("\ndisk_full_in_days "), "\(all)")
        let facts = try tool.run("stats", "--format", "json").objects[0]
        #expect(facts["log_bytes_a_day"] is NSNull && facts["disk_full_in_days"] is NSNull && facts["nodes_rows"] as? Int == 10)
    }

    @Test func `after a second without output, a terminal shows that work goes on`() throws {
        let tool = try Tool(holding: [Line.text("hello", from: 1)])
        let pipe = tool.folder.file("pipe").path
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        for (command, word) in [("messages", "reading"), ("packets", "reading"), ("sql", "querying")] {
            // Nobody reads the pipe, so that the command waits.
            let statement = command == "sql" ? ["SELECT 1"] : []
            let outcome = try tool.shown([command] + statement + ["--output", pipe], until: "\(word)  2 s")
            #expect(outcome.output.contains("\(word)  1 s") && outcome.output.contains("\(word)  2 s"), "\(outcome)")
        }
        let quick = try shown(tool, "messages", "--format", "csv")
        #expect(quick.lines.count == 2 && quick.lines[0].hasPrefix("time,"), "\(quick)")
    }

    @Test func `what comes in live is shown at once, and Control-C ends it`() throws {
        let tool = try Tool(holding: [Line.text("first", from: 1)])
        let outcome = try shown(tool, "events", "--follow", "--since", "2025-01-01", until: "first")
        let lines = outcome.lines.filter { $0 != "^C" }  // which a terminal shows if the command has not ended before
        #expect(outcome.status == 0 && lines.count == 2 && lines[1].hasSuffix("first"), "\(outcome)")
    }

    @Test func `a live table of a new ledger is as wide as the first packets, and fits a narrow terminal`() throws {
        let tool = try Tool()
        try tool.run("init")
        let file = try tool.write([Line.text("first", from: 1), Line.text(Self.words, from: 2)], to: "live.jsonl")
        let starter = ["/bin/sh", "-c", #"(sleep 1; "$0" import "$1" > "$1.out") & shift; exec "$@""#, Tool.program.path, file]
        let terminal = ["/usr/bin/env", "python3", Tool.script, "60", "50", "word30", Tool.program.path]
        let outcome = try tool.start(
            ["packets", "--follow", "--since", "2025-01-01"], environment: ["NO_COLOR": "1", "TZ": "UTC", "TERM": "xterm"],
            by: starter + terminal
        ).wait()
        let lines = outcome.lines.filter { $0 != "^C" }
        #expect(lines.allSatisfy { $0.count <= 60 } && lines[0].hasSuffix("content"), "\(outcome)")
        let place = lines[0].range(of: "content")?.lowerBound.utf16Offset(in: lines[0]) ?? 0
        #expect(60 - place >= 16 && lines.dropFirst().allSatisfy { $0.count > place }, "\(outcome)")
    }

    @Test func `at 80 columns ports are whole, and a latitude has its longitude`() throws {
        let tool = try Tool(holding: [
            Line.node(1, long: "A node with a long name", short: "long"), Line.text("hello", from: 1),
            Line.position(1, latitudeE7: 525_000_000, longitudeE7: 134_000_000),
        ])
        for list in ["packets", "events"] {
            let lines = try shown(tool, list, columns: 80).lines
            #expect(lines[0].contains("sequence ") && !lines[0].contains("first sequence"), "\(lines)")
            #expect(lines.contains { $0.contains("TEXT_MESSAGE_APP") } && !lines.contains { $0.contains("…") }, "\(lines)")
        }
        for columns in 40...120 {
            for list in ["nodes", "positions"] where columns % 10 == 0 {
                let head = try shown(tool, list, columns: columns).lines[0]
                #expect(head.contains("latitude") == head.contains("longitude"), "\(columns): \(head)")
            }
        }
        try tool.run("simulate", "--nodes", "10", "--packets", "200")
        let node = try tool.run("links", "--limit", "1", "--format", "csv", "--columns", "heard").lines[1]
        let heads = try shown(tool, "links", "neighbors", String(node), columns: 60).lines[0]
        #expect(heads.contains("node hears it dB") && heads.contains("it hears node dB"), "\(heads)")
    }
}
