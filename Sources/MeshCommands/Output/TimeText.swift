import EventLog

/// Times as people and programs read them, in UTC.
enum TimeText {
    static func iso(_ seconds: Int64) -> String { ISO8601.text(seconds: seconds) }

    static func iso(microseconds: Int64) -> String { ISO8601.text(microseconds: microseconds) }

    /// How long ago a time was, in the largest unit that fits: `45s`, `12m`, `3h`, `5d`.
    static func age(_ time: UInt32, at now: Int64) -> String {
        let seconds = max(0, now - Int64(time))
        let units: [(length: Int64, name: String)] = [(86_400, "d"), (3_600, "h"), (60, "m")]
        let unit = units.first { seconds >= $0.length } ?? (1, "s")
        return "\(seconds / unit.length)\(unit.name)"
    }
}
