import Foundation
import TestKit
import Testing

@testable import EventLog

/// Instants as text, against the calendar of the system.
struct CalendarTests {
    private static func calendar() -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        return calendar
    }

    private func expected(_ seconds: Int64, _ calendar: Calendar) -> String {
        let date = Date(timeIntervalSince1970: TimeInterval(seconds))
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        func padded(_ number: Int?, _ width: Int) -> String {
            let digits = String(number ?? 0)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))T"
            + "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(parts.second, 2))Z"
    }

    @Test func `instants read as the system's calendar says, on the first and last seconds of days and at random`() {
        let calendar = Self.calendar()
        var generator = SeededGenerator(seed: 11)
        // 1600 to 2400: before October 1582 the system's calendar is the Julian one.
        for _ in 0..<1_500 {
            let day = Int64.random(in: -135_000...157_000, using: &generator)
            for second in [0, 59, 60, 3_599, 3_600, 86_399, Int64.random(in: 0..<86_400, using: &generator)] {
                let seconds = day * 86_400 + second
                let text = expected(seconds, calendar)
                #expect(ISO8601.text(seconds: seconds) == text, "\(seconds)")
                let exact = text.dropLast() + ".999999Z"
                #expect(ISO8601.text(microseconds: seconds * 1_000_000 + 999_999) == exact, "\(seconds)")
                var bytes: [UInt8] = []
                ISO8601.append(microseconds: seconds * 1_000_000 + 999_999, to: &bytes)
                #expect(bytes == Array(exact.utf8), "\(seconds)")
            }
        }
        #expect(ISO8601.text(microseconds: 1_500_000) == "1970-01-01T00:00:01.500000Z")
        #expect(
            ISO8601.text(microseconds: -1) == "1969-12-31T23:59:59.999999Z"
                && ISO8601.text(microseconds: 7).hasSuffix("00.000007Z"))
    }

    @Test func `each day of four centuries follows the one before`() {
        var next = ISO8601.days(year: 1900, month: 1, day: 1)
        #expect(next == -25_567 && ISO8601.days(year: 1970, month: 1, day: 1) == 0)
        for year in 1900...2300 as ClosedRange<Int64> {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for (month, length) in zip(
                1...12 as ClosedRange<Int64>, [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as [Int64])
            {
                #expect(ISO8601.days(year: year, month: month, day: 1) == next, "\(year)-\(month)")
                next += length
                #expect(ISO8601.days(year: year, month: month, day: length) == next - 1, "\(year)-\(month)")
            }
        }
    }
    @Test func `years have four digits or as many as they need, up to the ends of what 64 bits hold`() {
        for year in [0, 9, 10, 99, 100, 999, 1_000, 9_999, 10_000, 10_999, 11_000, 99_999, 100_000, 109_999, 292_277] as [Int64] {
            let digits = String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
            for (sign, text) in [(1, digits), (-1, year == 0 ? digits : "-" + digits)] as [(Int64, String)] {
                let seconds = ISO8601.days(year: sign * year, month: 1, day: 1) * 86_400
                #expect(ISO8601.text(seconds: seconds) == text + "-01-01T00:00:00Z")
                var bytes: [UInt8] = []
                ISO8601.append(seconds: seconds + 86_399, to: &bytes)
                #expect(String(decoding: bytes, as: UTF8.self) == text + "-01-01T23:59:59Z")
            }
        }
        #expect(ISO8601.text(seconds: .max) == "292277026596-12-04T15:30:07Z")
        #expect(ISO8601.text(seconds: .min) == "-292277022657-01-27T08:29:52Z")
        #expect(ISO8601.text(microseconds: .max) == "294247-01-10T04:00:54.775807Z")
        #expect(ISO8601.text(microseconds: .min) == "-290308-12-21T19:59:05.224192Z")
    }
    @Test func `times are read to the microsecond, with their offset, and nothing else is a time`() throws {
        let day: Int64 = 1_764_288_000_000_000  // 2025-11-28
        let times: [(String, Int64)] = [
            ("2025-11-28", 0), ("2025-11-28T00:00", 0), ("2025-11-28 23:59", 86_340_000_000),
            ("2025-11-28t01:02:03z", 3_723_000_000),
            ("2025-11-28T01:02:03Z", 3_723_000_000), ("2025-11-28T00:00:60Z", 60_000_000), ("2025-11-28T00:00:00.5", 500_000),
            ("2025-11-28T00:00:00,000001Z", 1), ("2025-11-28T00:00:00.1234567Z", 123_456), ("2025-11-28T01:00:00+01:00", 0),
            ("2025-11-28T01:00:00+0100", 0), ("2025-11-28T01:00:00+01", 0), ("2025-11-28T00:00:00-05:30", 19_800_000_000),
            ("2025-11-28T23:59:00+23:59", 0), ("2025-11-28T00:00+00:00", 0),
        ]
        for (text, offset) in times { #expect(ISO8601Parser.parse(text)?.microseconds == day + offset, "\(text)") }
        for text in [
            "", "2025", "2025-11", "2025-1-28", "2025-11-28T", "2025-11-28T00", "2025-11-28T24:00", "2025-11-28T00:60",
            "2025-11-28T00:00:61",
            "2025-11-28T00:00:00.", "2025-11-28T00:00:00.x", "2025-11-28T00:00Zx", "2025-11-28x", "2025-13-01", "2025-00-01",
            "2025-11-00",
            "2025-11-31", "2025-02-29", "1900-02-29", "2025-11-28T00:00+24:00", "2025-11-28T00:00+00:60", "2025-11-28T00:00+1",
            "20251128",
            "2025-11-28T00:00+01:", "-025-11-28", "２０２５-11-28", "2025/11/28", "2025-11-28T0a:00", "2025-1:-28",
        ] { #expect(ISO8601Parser.parse(text) == nil, "\(text)") }
        for (month, last) in [
            (1, 31), (2, 28), (3, 31), (4, 30), (5, 31), (6, 30), (7, 31), (8, 31), (9, 30), (10, 31), (11, 30), (12, 31),
        ] {
            let text = "2025-" + (month < 10 ? "0" : "") + "\(month)-"
            #expect(ISO8601Parser.parse("\(text)\(last)") != nil && ISO8601Parser.parse("\(text)\(last + 1)") == nil, "\(month)")
        }
        #expect(ISO8601Parser.parse("2024-02-29") != nil && ISO8601Parser.parse("2000-02-29") != nil)
        #expect(
            ISO8601Parser.parse("0000-01-01")?.seconds == -62_167_219_200
                && ISO8601Parser.parse("9999-12-31")?.seconds == 253_402_214_400)
    }

    @Test func `so many months earlier is the same day and time, or the last day of a shorter month`() throws {
        func earlier(_ text: String, _ months: Int64) throws -> String? {
            ISO8601Parser.earlier(try #require(ISO8601Parser.parse(text)), months: months).map {
                ISO8601.text(microseconds: $0.microseconds)
            }
        }
        let cases: [(String, Int64, String?)] = [
            ("2025-11-28T01:02:03.000004Z", 0, "2025-11-28T01:02:03.000004Z"),
            ("2025-11-28T01:02:03Z", 1, "2025-10-28T01:02:03.000000Z"),
            ("2025-11-28T01:02:03Z", 11, "2024-12-28T01:02:03.000000Z"),
            ("2025-11-28T01:02:03Z", 10, "2025-01-28T01:02:03.000000Z"),
            ("2025-03-31T00:00:00Z", 1, "2025-02-28T00:00:00.000000Z"),
            ("2024-03-31T00:00:00Z", 1, "2024-02-29T00:00:00.000000Z"),
            ("2024-02-29T00:00:00Z", 12, "2023-02-28T00:00:00.000000Z"),
            ("2025-12-31T23:59:59Z", 1, "2025-11-30T23:59:59.000000Z"),
            ("2025-12-31T23:59:59Z", 12, "2024-12-31T23:59:59.000000Z"),
            ("0001-02-01T00:00:00Z", 1, "0001-01-01T00:00:00.000000Z"),
            ("0001-01-01T00:00:00Z", 1, nil), ("2025-11-28T00:00:00Z", 120_000, nil), ("2025-11-28T00:00:00Z", .max, nil),
        ]
        for (text, months, expected) in cases { #expect(try earlier(text, months) == expected, "\(months) before \(text)") }
        #expect(
            ISO8601Parser.earlier(Timestamp(microseconds: .min), months: 1) == nil
                && ISO8601Parser.earlier(Timestamp(microseconds: .max), months: 1) == nil)
    }
}
