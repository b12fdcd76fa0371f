import EventLog
import Foundation
import TestKit
import Testing

@testable import MeshCommands

/// Spans of time by the calendar.
struct CalendarSpans {
    private func span(_ text: String) throws -> TimeSpan { try #require(TimeSpan(argument: text)) }

    @Test(arguments: [
        ("1mo", "2024-02-29T12:00:00Z", "2024-02-01", "2024-03-01"), ("1mo", "2025-12-31T23:59:59Z", "2025-12-01", "2026-01-01"),
        ("3mo", "2025-09-10T00:00:00Z", "2025-07-01", "2025-10-01"), ("1y", "2025-09-10T00:00:00Z", "2025-01-01", "2026-01-01"),
        ("1w", "2025-09-10T10:00:00Z", "2025-09-08", "2025-09-15"), ("1w", "2025-09-08T00:00:00Z", "2025-09-08", "2025-09-15"),
        ("1w", "1969-12-30T00:00:00Z", "1969-12-29", "1970-01-05"), ("2d", "1970-01-02T00:00:00Z", "1970-01-01", "1970-01-03"),
        ("1mo", "1969-12-31T23:00:00Z", "1969-12-01", "1970-01-01"),
    ])
    func `weeks begin on Monday, months and years as in the calendar`(
        length: String, time: String, start: String, next: String
    ) throws {
        let span = try span(length)
        let place = span.place(of: try #require(ISO8601Parser.parse(time)), in: .utc)
        #expect(span.isOfDays && span.date(of: place) == start && span.date(of: place + 1) == next)
        #expect(span.start(of: place, in: .utc) == ISO8601Parser.parse(start))
        #expect(span.place(ofDate: try #require(ISO8601Parser.parse(start))) == place)
    }

    @Test func `a span is a length of time and nothing else`() {
        for text in ["", "0mo", "0d", "-1d", "mo", "yesterday", "1 fortnight", "99999999999999999999y", "20000y"] {
            #expect(TimeSpan(argument: text) == nil, "\(text)")
        }
        #expect(TimeSpan(argument: "1 month") == TimeSpan(months: 1) && TimeSpan(argument: "1y") == TimeSpan(months: 12))
        #expect(TimeSpan(argument: "7d") == TimeSpan(argument: "1w"))
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built command"))
    func `a table on a terminal counts local days, programs get days in UTC`() throws {
        // Half an hour before midnight in UTC, after it in Berlin.
        let tool = try Tool(holding: [
            Line.text("late", from: 1, time: 1_760_052_600), Line.text("next day", from: 2, time: 1_760_100_000),
        ])
        let script = PackageRoot.url.appendingPathComponent("Tests/Oracle/terminal.py").path
        let starter = ["/usr/bin/env", "python3", script, "100", "50", "", Tool.program.path]
        let environment = ["TZ": "Europe/Berlin", "NO_COLOR": "1", "TERM": "xterm", "PAGER": "cat"]
        func days(_ words: [String], by starter: [String] = []) throws -> [String] {
            let outcome = try tool.start(["messages"] + words, environment: environment, by: starter).wait()
            #expect(outcome.status == 0, "\(outcome)")
            return outcome.lines.dropFirst().map { String($0.prefix(10)) }
        }
        #expect(try days(["--bucket", "1d"], by: starter) == ["2025-10-10"])
        #expect(try days(["--bucket", "1d", "--utc"], by: starter) == ["2025-10-09", "2025-10-10"])
        #expect(try days(["--bucket", "1d", "--format", "csv"]) == ["2025-10-09", "2025-10-10"])
        #expect(try days(["--count-by", "month", "--format", "csv"]) == ["2025-10-01"])
        #expect(try days(["--count-by", "week", "--format", "csv"]) == ["2025-10-06"])
        let chart = try tool.start(["messages", "--bucket", "1mo", "--chart"], environment: environment).wait()
        #expect(
            chart.status == 0 && chart.output.contains("2025-10-01 00:00") && chart.output.contains("2025-11-01 00:00 UTC"),
            "\(chart)")
    }

    @Test(
        .enabled(if: Tool.isBuilt, "needs the built command"),
        arguments: [("Europe/Berlin", 1_761_433_200, "02:00"), ("America/New_York", 1_762_056_000, "01:00")])
    func `of an hour that a clock shows twice, a window has both, and its first is when it begins`(
        zone: String, start: Int, hour: String
    ) throws {
        // An hour before the hour that comes twice, these two, and an hour after them.
        let tool = try Tool(
            holding: (0..<4).map { Line.text("number \($0)", from: UInt32($0) + 1, time: start + $0 * 3_600 + 1_800) })
        let day = zone == "Europe/Berlin" ? "2025-10-26" : "2025-11-02"
        let script = PackageRoot.url.appendingPathComponent("Tests/Oracle/terminal.py").path
        let starter = ["/usr/bin/env", "python3", script, "100", "50", "", Tool.program.path]
        let environment = ["TZ": zone, "NO_COLOR": "1", "TERM": "xterm", "PAGER": "cat"]
        func found(_ words: String...) throws -> [Int] {
            let outcome = try tool.start(["messages", "--oldest-first"] + words, environment: environment, by: starter).wait()
            return (0..<4).filter { outcome.output.contains("number \($0)") }
        }
        let half = hour.replacing(":00", with: ":30")
        #expect(try found("--since", "\(day) \(hour)") == [1, 2, 3])
        #expect(try found("--until", "\(day) \(hour)") == [0, 1])
        #expect(try found("--since", "\(day) \(hour)", "--until", "\(day) \(half):01") == [1, 2])
        #expect(try found("--as-of", "\(day) \(half):01") == [0, 1])
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built command"))
    func `the hour that a clock shows twice at the end of summer time is two hours`() throws {
        let tool = try Tool(
            holding: (0..<10).map { Line.text("number \($0)", from: UInt32($0) + 1, time: 1_761_429_600 + $0 * 1_800) })
        let script = PackageRoot.url.appendingPathComponent("Tests/Oracle/terminal.py").path
        let starter = ["/usr/bin/env", "python3", script, "100", "50", "", Tool.program.path]
        let environment = ["TZ": "Europe/Berlin", "NO_COLOR": "1", "TERM": "xterm", "PAGER": "cat"]
        for grouping in [["--bucket", "1h"], ["--count-by", "hour"]] {
            let outcome = try tool.start(["messages"] + grouping, environment: environment, by: starter).wait()
            let rows = outcome.lines.dropFirst().map { $0.split(separator: " ").map(String.init) }
            #expect(
                rows.map { $0[0].suffix(14) } == [
                    "00:00:00+02:00", "01:00:00+02:00", "02:00:00+02:00", "02:00:00+01:00", "03:00:00+01:00",
                ], "\(outcome)")
            #expect(rows.allSatisfy { $0[1] == "2" }, "\(outcome)")
        }
        let chart = try tool.start(["messages", "--bucket", "30m", "--chart"], environment: environment, by: starter).wait()
        #expect(
            chart.lines[1].contains("1 ┤") && chart.lines.last?.contains("04:00") == true, "no span has more than one: \(chart)")
    }
}
