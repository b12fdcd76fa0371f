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
    ])
    func `times as people write them are understood`(text: String, seconds: Int64) {
        #expect(TimeArgument(text, now: now)?.time.seconds == seconds)
    }

    @Test(arguments: [
        "", "soon", "2026", "12", "h ago", "-2h ago", "2 fortnights ago", "2026-13-01", "2026-02-30", "2026-01-31 10",
        "2026-01-31Tnoon", "2026-01-31T10:15:30Z?", "2026-01-31T25:00", "99999999999999999999d ago",
    ])
    func `what is no time is refused`(text: String) {
        #expect(TimeArgument(text, now: now) == nil)
    }

    @Test func `a fraction of a second is kept`() {
        #expect(TimeArgument("2026-01-31T10:15:30.250Z", now: now)?.time.microseconds == 1_769_854_530_250_000)
    }

    @Test(arguments: [0, 951_782_400, 1_769_854_530, 4_102_444_800, -1]) func `a printed time is read back as itself`(
        seconds: Int64
    ) {
        #expect(TimeArgument(TimeText.iso(seconds), now: now)?.time.seconds == seconds)
    }
}
