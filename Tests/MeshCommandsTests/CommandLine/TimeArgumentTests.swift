import EventLog
import Testing

@testable import MeshCommands

struct TimeArgumentTests {
    /// 2026-01-31 10:15:30 UTC.
    private let now = Timestamp(seconds: 1_769_854_530)

    @Test(arguments: [
        ("now", 1_769_854_530), ("today", 1_769_817_600), ("yesterday", 1_769_731_200), ("90s ago", 1_769_854_440),
        ("2h ago", 1_769_847_330), ("2 hours ago", 1_769_847_330), ("3d", 1_769_595_330), ("1 week ago", 1_769_249_730),
        ("2026-01-31", 1_769_817_600), ("2026-01-31T10:15:30Z", 1_769_854_530), ("2026-01-31T11:15:30+01:00", 1_769_854_530),
        ("2026-01-31 10:15:30", 1_769_854_530), ("2026-01-31T10:15", 1_769_854_500), ("1769854530", 1_769_854_530),
        ("2w", 1_768_644_930), ("1y", 1_738_318_530), ("1 year ago", 1_738_318_530), ("2mo", 1_764_497_730),
        ("2026", 1_767_225_600), ("2025-09", 1_756_684_800), ("2025-09-14", 1_757_808_000), ("10:00", 1_769_853_600),
        ("9:30", 1_769_851_800),
        ("23:59:59", 1_769_903_999), ("today 10:00", 1_769_853_600), ("Yesterday 10:00", 1_769_767_200),
        ("yesterday 10:00+01:00", 1_769_763_600), ("1769854530250", 1_769_854_530), ("1769854530250000", 1_769_854_530),
        ("100000000", 100_000_000), ("99999999999", 99_999_999_999), ("100000000000", 100_000_000),
    ])
    func `times as people write them are understood`(text: String, seconds: Int64) {
        #expect(TimeArgument(text, now: now)?.time.seconds == seconds)
    }

    @Test(arguments: [
        "", "soon", "12", "h ago", "-2h ago", "2 fortnights ago", "2026-13-01", "2026-02-30", "2026-01-31 10",
        "2026-01-31Tnoon", "2026-01-31T10:15:30Z?", "2026-01-31T25:00", "99999999999999999999d ago", "2025-13", "2025-00",
        "2025-9",
        "2025-02-29", "2026-04-31", "24:00", "10:60", "10", "10:", ":30", "yesterday10:00", "yesterday noon", "now 10:00",
        "3000y",
        "9223372036854775807y", "9223372036854775807mo", "1.5h", "99999999", "100000000000000000", "99999999999999999999",
        "-1769854530", "today 10:00 ago", "２h", "5M", "5M ago", "5 M",
    ])
    func `what is no time is refused`(text: String) {
        #expect(TimeArgument(text, now: now) == nil)
    }

    @Test(arguments: [
        ("2026-03-31T12:00:00Z", "1mo", "2026-02-28T12:00:00Z"), ("2028-03-31T12:00:00Z", "1mo", "2028-02-29T12:00:00Z"),
        ("2028-02-29T12:00:00Z", "1y", "2027-02-28T12:00:00Z"), ("2028-02-29T12:00:00Z", "4y", "2024-02-29T12:00:00Z"),
        ("2026-01-31T12:00:00Z", "2mo", "2025-11-30T12:00:00Z"), ("2026-01-01T00:00:00Z", "yesterday", "2025-12-31T00:00:00Z"),
        ("2028-03-01T05:00:00Z", "yesterday 23:00", "2028-02-29T23:00:00Z"),
        ("2026-12-31T23:59:59Z", "12mo", "2025-12-31T23:59:59Z"),
    ])
    func `months and years end where the calendar's do`(now: String, text: String, expected: String) throws {
        let now = try #require(TimeArgument(now)).time
        #expect(TimeArgument(text, now: now).map { TimeText.iso($0.time.seconds) } == expected)
    }

    @Test func `no time of day and no distance overflows at the ends of time`() {
        for now in [Timestamp(microseconds: .min), Timestamp(microseconds: .max), Timestamp(seconds: 0)] {
            for text in [
                "today", "yesterday", "23:59", "yesterday 0:00", "1mo", "9999y", "9223372036854775807s", "9999999999999d ago",
            ] {
                _ = TimeArgument(text, now: now)
            }
        }
    }

    @Test func `the error of a time lists what is understood`() throws {
        #expect(throws: (any Error).self) { try TimeArgument.parsed("soon") }
        for example in [
            "2026-01-31", "2026-01-31T10:15:00Z", "2026-01", "10:15", "yesterday 10:15", "yesterday", "today", "now", "2h ago",
            "2h",
        ] {
            #expect(TimeArgument.understood.contains(example) && TimeArgument(example) != nil, "\(example)")
        }
    }

    @Test func `a fraction of a second is kept`() {
        #expect(TimeArgument("2026-01-31T10:15:30.250Z", now: now)?.time.microseconds == 1_769_854_530_250_000)
    }

    @Test(arguments: [0, 951_782_400, 1_769_854_530, 4_102_444_800, -1]) func `a printed time is read back as itself`(
        seconds: Int64
    ) {
        #expect(TimeArgument(TimeText.iso(seconds), now: now)?.time.seconds == seconds)
    }

    @Test func `a lone M, which may be minutes or months, is refused with both ways to write it`() throws {
        let tool = try Tool(holding: [Line.text("hi", from: 1)])
        for wrong in [
            ["packets", "--since", "5M"], ["packets", "--until", "5M ago"], ["nodes", "--silent", "5M"],
            ["nodes", "--as-of", "5M"],
            ["packets", "--bucket", "5M"], ["packets", "--where", "time>5M"],
        ] {
            let refused = try tool.start(wrong).wait()
            #expect(
                refused.status == 64 && refused.errors.contains("write 5m for minutes or 5mo for months"), "\(wrong): \(refused)")
        }
        for text in ["5MO", "1Mo", "5Min", "2H"] { #expect(TimeArgument(text, now: now) != nil, "\(text)") }
    }
}
