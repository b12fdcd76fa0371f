import Foundation
import TestKit
import Testing

/// Counts of rows, against the rows themselves.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct CountTests {
    private func simulated() throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "15", "--packets", "1500")
        return tool
    }

    private func rows(_ tool: Tool, _ arguments: [String]) throws -> [[String: Any]] {
        let outcome = try tool.start(arguments + ["--format", "jsonl"]).wait()
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.objects
    }

    private func text(_ value: Any?) -> String { value.map { $0 is NSNull ? "null" : "\($0)" } ?? "null" }

    /// How often each text occurs; each group is one line.
    private func counted(_ keys: [String]) -> [String: Int] { keys.reduce(into: [:]) { $0[$1, default: 0] += 1 } }

    @Test(arguments: [
        ("packets", "from", "node"), ("packets", "port", "port"), ("packets", "channel", "channel"), ("events", "from", "node"),
        ("events", "gateway", "gateway"), ("events", "source", "source"), ("positions", "node", "node"),
        ("positions", "gateway", "gateway"),
        ("telemetry", "kind", "kind"), ("messages", "channel", "channel"), ("nodes", "hardware", "hardware"),
        ("channels", "readable", "readable"),
        ("links", "evidence", "known from"), ("nodes history", "node", "node"), ("waypoints --all", "channel", "channel"),
    ])
    func `any list counts its rows by any column, the most frequent value first`(
        _ list: String, _ column: String, _ asked: String
    ) throws {
        let tool = try simulated()
        let words = list.split(separator: " ").map(String.init)
        let expected = counted(try rows(tool, words).map { text($0[column]) })
        let groups = try rows(tool, words + ["--count-by", asked])
        let counts = groups.compactMap { $0["count"] as? Int }
        #expect(counts == counts.sorted(by: >) && !counts.isEmpty)
        #expect(Dictionary(uniqueKeysWithValues: zip(groups.map { text($0[column]) }, counts)) == expected)
        #expect(try rows(tool, words + ["--count-by", asked, "--limit", "1"]).count == 1)
        #expect(try rows(tool, words + ["--count-by", asked, "--offset", "1"]).count == groups.count - 1)
    }

    @Test func `hours and days come in the order of time, beside other columns`() throws {
        let tool = try simulated()
        for list in ["packets", "events", "positions"] {
            let all = try rows(tool, [list])
            for (span, length) in [("hour", 13), ("day", 10)] {
                let column = list == "positions" ? "node" : "port"
                let expected = counted(all.map { "\(text($0["time"]).prefix(length)) \(text($0[column]))" })
                let groups = try rows(tool, [list, "--count-by", "\(span),\(column)"])
                let keys = groups.map { "\(text($0[span]).prefix(length)) \(text($0[column]))" }
                #expect(Dictionary(uniqueKeysWithValues: zip(keys, groups.compactMap { $0["count"] as? Int })) == expected)
                let times = groups.map { text($0[span]) }
                #expect(times == times.sorted())
            }
        }
    }

    @Test func `a packet that several gateways heard counts for each of them`() throws {
        let tool = try simulated()
        let expected = counted(try rows(tool, ["packets"]).flatMap { $0["gateways"] as? [String] ?? [] })
        let groups = try rows(tool, ["packets", "--count-by", "gateway"])
        let found = groups.map { (text($0["gateways"]), $0["count"] as? Int ?? 0) }
        #expect(Dictionary(uniqueKeysWithValues: found) == expected && expected.count > 1)
    }

    @Test func `counts take the conditions, times and order that rows take`() throws {
        let tool = try simulated()
        let all = try rows(tool, ["positions"])
        let middle = text(all[all.count / 2]["time"])
        let chosen = all.filter { text($0["time"]) >= middle && ($0["altitude"] as? Int ?? -1) > 50 }
        let options = ["positions", "--since", middle, "--where", "altitude > 50", "--count-by", "node"]
        let groups = try rows(tool, options)
        #expect(groups.compactMap { $0["count"] as? Int }.reduce(0, +) == chosen.count && !chosen.isEmpty)
        let byNode = try rows(tool, options + ["--sort", "node"]).map { text($0["node"]) }
        #expect(byNode == counted(chosen.map { text($0["node"]) }).keys.sorted())
        #expect(try rows(tool, options + ["--reverse"]).map { text($0["node"]) } == groups.reversed().map { text($0["node"]) })
        #expect(try rows(tool, options + ["--columns", "count"]).allSatisfy { $0.count == 1 })
        let csv = try tool.run("positions", "--count-by", "node", "--format", "csv")
        #expect(csv.lines.first == "node,count")
        for wrong in [["--count-by", "colour"], ["--count-by", "node,"], ["--bucket", "soon"], ["--mean", "colour"]] {
            #expect(try tool.start(["positions"] + wrong).wait().status == 64, "\(wrong)")
        }
        #expect(try tool.run("channels", "--count-by", "hour").status == 0)
        #expect(try tool.run("packets", "--count-by", "colour").status == 64)
    }

    @Test func `numbers are summed up for each span of time`() throws {
        let tool = try simulated()
        let all = try rows(tool, ["positions"])
        let groups = try rows(
            tool, ["positions", "--bucket", "1h", "--mean", "snr", "--min", "snr", "--max", "altitude", "--sum", "altitude"])
        let hours = Dictionary(grouping: all) { "\(text($0["time"]).prefix(13)):00:00Z" }
        #expect(groups.map { text($0["time"]) } == hours.keys.sorted())
        for group in groups {
            let rows = try #require(hours[text(group["time"])])
            let (snr, altitude) = (rows.compactMap { $0["snr"] as? Double }, rows.compactMap { $0["altitude"] as? Int })
            #expect(group["count"] as? Int == rows.count)
            let mean = snr.isEmpty ? nil : snr.reduce(0, +) / Double(snr.count)
            #expect(mean == nil || abs((group["mean_snr"] as? Double ?? .nan) - (mean ?? 0)) < 1e-9)
            #expect(group["min_snr"] as? Double == snr.min() && group["max_altitude"] as? Int == altitude.max())
            #expect(altitude.isEmpty || group["sum_altitude"] as? Int == altitude.reduce(0, +))
        }
        let whole = try rows(tool, ["positions", "--max", "altitude"])
        #expect(whole.count == 1 && whole.first?["count"] as? Int == all.count)
    }

    @Test func `heads of counts and means are those of the list, with their units`() throws {
        let tool = try simulated()
        for (command, heads) in [
            (
                "telemetry --kind device --count-by node --mean battery_level --max voltage",
                ["mean battery level %", "max voltage V"]
            ),
            ("telemetry --bucket 1h --min battery_level", ["min battery level %"]),
            ("telemetry --columns node,battery_level", ["battery level %"]),
            ("packets --count-by opening,snr", ["opened", "snr dB", "count"]),
            ("positions --bucket 1d --mean altitude", ["mean altitude m"]),
        ] {
            let words = command.split(separator: " ").map(String.init)
            let head = try #require(try tool.start(words).wait().lines.first)
            for part in heads { #expect("\(head)  ".contains("\(part)  "), "\(command): \(head)") }
            let names = try #require(try tool.start(words + ["--format", "csv"]).wait().lines.first)
            #expect(!names.contains(" ") && !names.contains("%"), "\(command): \(names)")
        }
        let chart = try tool.run("packets", "--count-by", "opening", "--chart")
        #expect(chart.lines.first == "count by opened", "\(chart)")
    }

    @Test func `each name occurs once, and a column of the rows keeps its own`() throws {
        let tool = try simulated()
        for (list, heading) in [
            ("view links --count-by count", "count,rows"), ("positions --bucket 1h --count-by time", "bucket,time,count"),
            ("positions --bucket 1h --mean snr --mean SNR --min snr", "time,count,mean_snr,min_snr"),
            ("packets --count-by hour,node,hour,from", "hour,from,count"), ("nodes --columns node,name,node", "node,long_name"),
            ("export nodes --columns node,node", "node"), ("sql SELECT+1+AS+a,+2+AS+a", "a,a_2"),
        ] {
            let words = list.split(separator: " ").map { String($0).replacing("+", with: " ") }
            #expect(try tool.start(words + ["--format", "csv"]).wait().lines.first?[...] == heading[...], "\(list)")
            for row in try rows(tool, words) { #expect(row.count == heading.split(separator: ",").count, "\(list)") }
        }
        let links = try rows(tool, ["view", "links"]).map { text($0["count"]) }
        let groups = try rows(tool, ["view", "links", "--count-by", "count"])
        let found = groups.map { (text($0["count"]), $0["rows"] as? Int ?? 0) }
        #expect(Dictionary(uniqueKeysWithValues: found) == counted(links))
    }

    @Test func `everyday questions are short commands that help shows`() throws {
        let tool = try simulated()
        for (noun, example) in [
            ("nodes", "nodes --silent 1d"), ("nodes", "nodes --where 'battery < 20' --sort battery"),
            ("positions", "positions --latest"),
            ("packets", "packets --since 1d --count-by node --limit 10"), ("packets", "packets --since 30d --count-by hour,port"),
            ("telemetry", "telemetry --kind device --count-by hour,node --mean channel_utilization"),
        ] {
            let help = try tool.run(noun, "--help").output.split(whereSeparator: \.isWhitespace)
                .filter { $0 != "\\" }.joined(separator: " ")
            #expect(help.contains(" meshledger \(example) ") && example.count < 89, "\(example)")
            let shell = try FinishedProcess(
                URL(fileURLWithPath: "/bin/sh"), ["-c", "'\(Tool.program.path)' \(example)"], adding: ["MESHLEDGER": tool.ledger])
            #expect(shell.status == 0, "\(shell.text)")
        }
    }

    @Test(arguments: [("messages", "hops"), ("packets", "content"), ("packets", "snr"), ("events", "content")])
    func `an unknown column's error lists those that are made only on request, too`(list: String, column: String) throws {
        let tool = try Tool(holding: [Line.text("hi", from: 0x11)])
        for asked in [
            ["--count-by", "from", "--mean", "xyzzyx"], ["--count-by", "xyzzyx,hour"], ["--columns", "xyzzyx"],
            ["--sort", "xyzzyx"], ["--where", "xyzzyx=1"],
        ] {
            let refused = try tool.start([list] + asked).wait()
            let there = refused.errors.split(separator: "there are ").last.map { $0.split { ", \n".contains($0) } } ?? []
            #expect(refused.status == 64 && there.contains(Substring(column)), "\(list) \(asked): \(refused.errors)")
        }
    }

    @Test func `ages that are counted or summed up have their unit`() throws {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "Rover", short: "R1"), Line.position(0x11, latitudeE7: 470_000_000, longitudeE7: 80_000_000),
        ])
        let table = try tool.run("nodes", "--count-by", "pos_age", "--mean", "pos_age")
        #expect(table.lines[0].hasPrefix("pos age s ") && table.lines[0].contains("mean pos age s"), "\(table)")
        let csv = try tool.run("nodes", "--count-by", "pos_age", "--mean", "pos_age", "--format", "csv")
        #expect(csv.lines[0] == "pos_age,count,mean_pos_age", "\(csv)")
        #expect(try tool.run("nodes", "--count-by", "node", "--mean", "pos_age", "--chart").lines[0] == "mean pos age s by node")
    }
}
