import EventLog

/// Reads instants as ISO 8601 in UTC with microseconds, `2026-01-31T10:15:00.250000Z`.
enum InstantText {
    /// Microseconds since 1970, or nil if `text` is not such an instant. The fraction is optional and has one to six digits.
    static func microseconds(_ text: String) -> Int64? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, 4), mark(&rest, "-"), let month = number(&rest, 2), mark(&rest, "-"),
            let day = number(&rest, 2), mark(&rest, "T") || mark(&rest, " "), let hour = number(&rest, 2), mark(&rest, ":"),
            let minute = number(&rest, 2), mark(&rest, ":"), let second = number(&rest, 2)
        else { return nil }
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61 else { return nil }
        var fraction: Int64 = 0
        if mark(&rest, ".") {
            let digits = rest.prefix { (0x30...0x39).contains($0) }.prefix(6)
            guard let value = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
            fraction = (digits.count..<6).reduce(value) { value, _ in value * 10 }
            rest = rest.drop { (0x30...0x39).contains($0) }
        }
        guard mark(&rest, "Z") || mark(&rest, "+00:00"), rest.isEmpty else { return nil }
        let seconds = (ISO8601.days(year: year, month: month, day: day) * 24 + hour) * 3600 + minute * 60 + second
        return seconds * 1_000_000 + fraction
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> Int64? {
        guard rest.count >= count, rest.prefix(count).allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Int64(String(decoding: rest.prefix(count), as: UTF8.self))
    }

    private static func mark(_ rest: inout ArraySlice<UInt8>, _ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }
}
