import EventLog

/// Times as people and programs read them, in UTC.
enum TimeText {
    static func iso(_ seconds: Int64) -> String { ISO8601.text(seconds: seconds) }

    static func iso(microseconds: Int64) -> String { ISO8601.text(microseconds: microseconds) }
}
