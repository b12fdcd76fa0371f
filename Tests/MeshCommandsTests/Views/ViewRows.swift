import Foundation
import MeshLedger
import TestKit
import Testing

struct ViewRows {
    private func tool() throws -> Tool {
        try Tool(holding: [
            Line.node(0x1000_0001, long: "Harbour", short: "H1", time: 1_760_000_000),
            Line.node(0x1000_0002, long: "Lighthouse", short: "L1", time: 1_760_000_100),
            Line.node(0x1000_0003, long: "Harbour Café", short: "H2", time: 1_760_000_200),
            Line.position(0x1000_0001, latitudeE7: 475_000_000, longitudeE7: 90_000_000, time: 1_760_000_005),
            Line.text("hello", from: 0x1000_0002),
        ])
    }

    @Test func `every view shows its rows with all columns, in every format`() throws {
        let tool = try tool()
        #expect(try tool.run("view", "packets").status == 64, "an index without rows")
        for view in Ledger.viewNames + ["channels", "hardware", "gateway_nodes"] where view != "packets" {
            let rows = try tool.run("view", view, "--format", "jsonl")
            #expect(rows.status == 0, "\(view): \(rows.errors)")
            let csv = try tool.run("view", view, "--format", "csv")
            let table = try tool.run("view", view)
            #expect(csv.lines.count == rows.objects.count + 1, "\(view)")
            #expect(table.lines.count == (rows.objects.isEmpty ? 0 : rows.objects.count + 1), "\(view)")
            for row in rows.objects { #expect(row.count == csv.lines[0].split(separator: ",").count, "\(view)") }
        }
        let positions = try tool.run("view", "positions", "--format", "jsonl").objects
        #expect(positions.first?["node"] as? String == "!10000001")
        #expect(positions.first?["latitude"] as? Double == 47.5)
        #expect(positions.first?["time"] as? String == "2025-10-09T08:53:25Z")
    }

    @Test func `rows are chosen, sorted and cut by any column`() throws {
        let tool = try tool()
        func names(_ arguments: String...) throws -> [String] {
            let outcome = try tool.start(["view", "nodes", "--format", "jsonl"] + arguments).wait()
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.objects.compactMap { $0["long_name"] as? String }
        }
        #expect(try names() == ["Harbour", "Lighthouse", "Harbour Café"])
        #expect(try names("--where", "number=!10000002") == ["Lighthouse"])
        #expect(try names("--where", "number=Lighthouse") == ["Lighthouse"])
        #expect(try names("--where", "longName~harbour", "--reverse") == ["Harbour Café", "Harbour"])
        #expect(try names("--where", "last_heard>2025-10-09T08:54:00Z", "--where", "shortName!=H2") == ["Lighthouse"])
        #expect(try names("--sort", "lastHeard", "--reverse", "--limit", "2") == ["Harbour Café", "Lighthouse"])
        #expect(try names("--where", "longName~a", "--offset", "1", "--limit", "1") == ["Harbour Café"])
        #expect(
            try tool.run("view", "nodes", "--columns", "number,long_name", "--format", "csv").lines.first == "number,long_name")
    }

    @Test func `the columns are the same whatever rows are chosen or sorted by`() throws {
        let tool = try tool()
        func headings(_ outcome: Tool.Outcome) -> [String] {
            (outcome.lines.first ?? "").split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        for (view, conditions) in [
            ("nodes", ["--where number=!10000001", "--where latitude>1", "--sort voltage", "--sort last_heard --reverse"]),
            ("telemetry", ["--where battery_level>1", "--sort battery_level"]),
        ] {
            for format in ["csv", "table"] {
                let all = headings(try tool.run("view", view, "--format", format))
                for condition in conditions {
                    let words = condition.split(separator: " ").map(String.init)
                    let found = try tool.start(["view", view, "--format", format] + words).wait()
                    #expect(found.status == 0 && headings(found) == all, "\(view) \(condition)")
                }
            }
        }
        let named = try tool.run("view", "nodes", "--where", "latitude>1", "--columns", "node,latitude", "--format", "csv")
        #expect(named.lines == ["node,latitude", "!10000001,47.5"])
    }

    @Test func `rows are chosen by time, counted and drawn as in every list`() throws {
        let tool = try tool()
        func lines(_ arguments: String...) throws -> [String] {
            let outcome = try tool.start(["view", "nodes"] + arguments).wait()
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.lines.map(String.init)
        }
        let since = ["--since", "2025-10-09T08:54:00Z", "--until", "2025-10-09T08:56:00Z"]
        let chosen = try tool.start(["view", "nodes", "--columns", "long_name", "--format", "csv"] + since).wait()
        #expect(chosen.lines == ["long_name", "Lighthouse"])
        #expect(
            try lines("--oldest-first", "--columns", "long_name", "--format", "csv")
                == ["long_name", "Harbour", "Lighthouse", "Harbour Café"])
        #expect(try lines("--count-by", "role", "--format", "csv").last?.hasSuffix(",3") == true)
        #expect(
            try lines("--count-by", "day", "--where", "longName~harbour", "--format", "csv") == ["day,count", "2025-10-09,2"])
        #expect(try lines("--bucket", "1d", "--max", "packets", "--format", "csv").first == "time,count,max_packets")
        #expect(try lines("--count-by", "long_name", "--chart").count == 4)
        #expect(try tool.run("view", "--count-by", "role").status == 64)
    }

    @Test func `what no view or column has is reported with what there is`() throws {
        let tool = try tool()
        for (arguments, status, word) in [
            (["view", "nothing"], Int32(66), "nodes"), (["view", "nodes", "--where", "colour=red"], 64, "long_name"),
            (["view", "nodes", "--sort", "colour"], 64, "long_name"),
            (["view", "nodes", "--where", "lastHeard=never"], 64, "2h ago"),
        ] {
            let outcome = try tool.start(arguments).wait()
            #expect(outcome.status == status, "\(arguments)")
            #expect(outcome.errors.contains(word), "\(outcome.errors)")
        }
    }
}
