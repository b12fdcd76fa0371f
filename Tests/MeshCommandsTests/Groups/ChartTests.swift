import Foundation
import TestKit
import Testing

@testable import MeshCommands

/// Charts, against the counts and numbers that the same command lists.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct ChartTests {
    private func simulated() throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "15", "--packets", "1500")
        return tool
    }

    @Test func `dots of a line are where its points are, two by four in a character`() {
        var canvas = BrailleCanvas(width: 2, height: 1)
        canvas.line(from: (0, 0), to: (3, 3))
        #expect(canvas.lines == ["⠑⢄"])
        canvas.set(column: 9, row: 0)
        canvas.set(column: 0, row: -1)
        #expect(canvas.lines == ["⠑⢄"])
        #expect(Sparkline.text([0, nil, 5, 10], 0...10) == "▁ ▅█" && Sparkline.bar(0.5, width: 3) == "█▌")
    }

    @Test func `one series over time is a line between its least and greatest value`() throws {
        let tool = try simulated()
        let options = ["telemetry", "--kind", "device", "--bucket", "5m", "--mean", "battery_level"]
        let means = try tool.start(options + ["--format", "jsonl"]).wait().objects.compactMap {
            $0["mean_battery_level"] as? Double
        }
        let chart = try tool.start(options + ["--chart"]).wait()
        #expect(chart.status == 0 && chart.lines.count == 13 && chart.lines[0] == "mean battery level %", "\(chart)")
        func label(_ line: Substring) -> Double? { Double(line.split(separator: "┤")[0].trimmingCharacters(in: .whitespaces)) }
        #expect(abs((label(chart.lines[1]) ?? 0) - (means.max() ?? 0)) < 0.01)
        #expect(abs((label(chart.lines[10]) ?? 0) - (means.min() ?? 0)) < 0.01)
        #expect(chart.lines[12].contains(Tool.start.prefix(10)))
        // Each of the two rows that name a value has a dot of the point with it.
        for line in [chart.lines[1], chart.lines[10]] {
            #expect(line.unicodeScalars.contains { (0x2801...0x28ff).contains($0.value) })
        }
    }

    @Test func `several series are a line of blocks each, those with the most rows first`() throws {
        let tool = try simulated()
        let options = ["packets", "--bucket", "10m", "--count-by", "port"]
        let totals = try tool.start(["packets", "--count-by", "port", "--format", "jsonl"]).wait().objects
        let chart = try tool.start(options + ["--chart"]).wait()
        try #require(chart.status == 0 && chart.lines.count == totals.count + 2, "\(chart)")
        let first = try #require(totals.first?["port"] as? String)
        #expect(chart.lines[1].hasPrefix(first) && chart.lines[1].contains("█"))
        #expect(try tool.start(options + ["--chart", "--limit", "2"]).wait().lines.count == 4)
    }

    @Test func `a count is 0 where nothing was, between the first span and the last; rows have only what was`() throws {
        let start = 1_760_004_000
        let tool = try Tool(
            holding: [(1, 0), (1, 0), (2, 2), (1, 4), (1, 4)].enumerated().map { number, line in
                Line.text("number \(number)", from: line.0, time: start + line.1 * 3_600 + number)
            })
        let line = try tool.run("messages", "--bucket", "1h", "--chart").lines
        try #require(line.count == 13, "\(line)")
        let dots = line[1...10].flatMap { $0.drop { !"┤│".contains($0) }.dropFirst() }
        #expect(dots.count { $0 != "\u{2800}" } > 40, "a line, not three points: \(line)")
        #expect(line[10].hasPrefix("0 ┤"), "\(line)")
        let blocks = try tool.run("messages", "--bucket", "1h", "--count-by", "from", "--chart").lines
        #expect(blocks[1] == "!00000001  █▁▁▁█  0 to 2" && blocks[2] == "!00000002  ▁▁▅▁▁  0 to 1", "\(blocks)")
        #expect(try tool.run("messages", "--bucket", "1h", "--format", "csv").lines.count == 4)
        let means = try tool.run("packets", "--bucket", "1h", "--count-by", "from", "--mean", "snr", "--chart").lines
        #expect(means[1].contains("  ▅   ▅  ") && means[2].contains("    ▅    "), "no mean of nothing: \(means)")
    }

    @Test func `counts without times are bars, each with its share of all`() throws {
        let tool = try simulated()
        let totals = try tool.run("packets", "--count-by", "port", "--format", "jsonl").objects
        let chart = try tool.run("packets", "--count-by", "port", "--chart")
        let greatest = try #require(totals.first?["count"] as? Int)
        let all = totals.reduce(0) { $0 + ($1["count"] as? Int ?? 0) }
        for (row, line) in zip(totals, chart.lines.dropFirst()) {
            let count = try #require(row["count"] as? Int)
            let (bar, longest) = (line.count { $0 == "█" }, chart.lines[1].count { $0 == "█" })
            let percent = (Double(count) / Double(all) * 100).rounded()
            let share = percent < 1 ? "<1 %" : "\(Int(percent)) %"
            #expect(line.split(separator: "  ").contains { $0.trimmingCharacters(in: .whitespaces) == share }, "\(line)")
            #expect(line.contains(" \(count)  ") && abs(bar * greatest - longest * count) <= greatest, "\(line)")
        }
    }

    @Test func `a share is one of all, also of what is not shown; means have none`() throws {
        let tool = try simulated()
        let means = try tool.run("telemetry", "--kind", "device", "--count-by", "node", "--mean", "battery_level", "--chart")
        #expect(!means.lines.dropFirst().contains { $0.contains(" %") }, "\(means)")
        func share(_ options: String...) throws -> Substring? {
            let bars = try tool.start(["packets", "--count-by", "port", "--chart"] + options).wait().lines
            return bars[1].split(separator: "%")[0].split(separator: " ").last
        }
        #expect(try share("--limit", "1") == share())
    }

    @Test func `a chart needs something to count, and is for people`() throws {
        let tool = try simulated()
        for wrong in [["--chart"], ["--chart", "--bucket", "1h", "--format", "csv"]] {
            #expect(try tool.start(["positions"] + wrong).wait().status == 64, "\(wrong)")
            #expect(try tool.start(["packets"] + wrong).wait().status == 64, "\(wrong)")
        }
        for wrong in [["--limit", "3"], ["--offset", "1"]] {
            let refused = try tool.start(["positions", "--bucket", "1m", "--chart"] + wrong).wait()
            #expect(refused.status == 64 && refused.errors.contains("--since"), "\(refused)")
            #expect(try tool.start(["positions", "--bucket", "1m", "--count-by", "node", "--chart"] + wrong).wait().status == 0)
        }
        let none = try tool.run("positions", "--since", "2030-01-01", "--bucket", "1h", "--chart")
        #expect(none.status == 0 && none.output.isEmpty && none.errors.contains("no positions"))
    }

    private func telemetry(_ number: UInt32, _ payload: String) -> String {
        #"{"from":\#(number),"to":4294967295,"id":\#(number),"channel":0,"type":"telemetry","sender":"!0000abcd","#
            + #""timestamp":1760000000,"payload":{\#(payload)}}"#
    }

    @Test func `a chart of a metric that no row has says so, not that there are no rows`() throws {
        let tool = try Tool(holding: [telemetry(0x11, #""temperature":21.5"#)])
        for by in [["--count-by", "node"], ["--bucket", "1h"]] {
            let none = try tool.start(["telemetry", "--kind", "environment", "--mean", "iaq", "--chart"] + by).wait()
            #expect(none.status == 0 && none.output.isEmpty && none.errors == "no values of iaq\n", "\(none)")
            let other = try tool.start(["telemetry", "--kind", "power", "--mean", "ch1_voltage", "--chart"] + by).wait()
            #expect(other.errors == "no telemetry\n", "\(other)")
        }
    }

    @Test func `a number of 39 digits leaves room for a line, in a narrow terminal as well`() throws {
        let tool = try Tool(holding: [telemetry(0x11, #""voltage":3e38"#)])
        let options = ["telemetry", "--kind", "device", "--bucket", "1h", "--mean", "voltage", "--chart"]
        let chart = try tool.shown(options, columns: 40)
        #expect(chart.status == 0 && chart.lines.count == 13 && chart.lines[1].hasPrefix("3e+38 ┤"), "\(chart)")
        let drawn = chart.output.unicodeScalars.count { (0x2801...0x28ff).contains($0.value) }
        #expect(drawn > 20 && chart.lines.prefix(11).allSatisfy { $0.count <= 40 }, "\(chart)")
    }

    @Test func `a single span of time is a line across the chart`() throws {
        let tool = try Tool(holding: [telemetry(0x11, #""temperature":21.5"#)])
        let chart = try tool.run("telemetry", "--bucket", "1h", "--mean", "temperature", "--chart")
        let drawn = try #require(chart.lines.first { $0.unicodeScalars.contains { (0x2801...0x28ff).contains($0.value) } })
        #expect(drawn.unicodeScalars.count { (0x2801...0x28ff).contains($0.value) } > 60, "\(chart)")
    }

    @Test func `bars begin in one column, also beside names with escaped characters`() throws {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "bel\u{7}", short: "b"), Line.node(0x12, long: "plain", short: "p"),
        ])
        for more in [[], ["--bucket", "1h"]] {
            let chart = try tool.start(["nodes", "--count-by", "name", "--chart"] + more).wait()
            let bars = chart.lines.filter { $0.contains("█") }
            let places = bars.compactMap { $0.firstIndex(of: "█")?.utf16Offset(in: $0) }
            #expect(bars.count == 2 && Set(places).count == 1 && chart.output.contains("bel\\u{7}"), "\(chart)")
        }
    }
}
