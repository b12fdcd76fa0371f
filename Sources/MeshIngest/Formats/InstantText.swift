/// Instants as ISO 8601 in UTC with microseconds, `2026-01-31T10:15:00.250000Z`.
enum InstantText {
    /// Microseconds since 1970, or nil where `text` is no such instant. The fraction is optional and has one to six digits.
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
        let seconds = (days(year, month, day) * 24 + hour) * 3600 + minute * 60 + second
        return seconds * 1_000_000 + fraction
    }

    /// `microseconds` since 1970 as text.
    static func text(microseconds: Int64) -> String {
        let seconds = microseconds.floorDivided(by: 1_000_000)
        let fraction = microseconds - seconds * 1_000_000
        let day = seconds.floorDivided(by: 86_400)
        let time = seconds - day * 86_400
        let (year, month, date) = civil(day)
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(date, 2) + "T" + padded(time / 3600, 2) + ":"
            + padded(time / 60 % 60, 2) + ":" + padded(time % 60, 2) + "." + padded(fraction, 6) + "Z"
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

    /// Days from 1970-01-01 in the Gregorian calendar, counting years from March so that leap days come last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.floorDivided(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
