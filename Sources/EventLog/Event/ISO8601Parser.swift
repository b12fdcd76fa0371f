/// Parses a complete ISO 8601 time: a date, or a date and a time to the minute, second or fraction, with `Z`, an offset or nothing (UTC).
///
/// Foundation's parser accepts a text that merely begins with a time, which would turn a typo into another time.
package struct ISO8601Parser {
    private var rest: ArraySlice<UInt8>
    private var hasZone = false

    /// - Parameter needsZone: whether a time without `Z` or an offset is refused.
    package static func parse(_ text: String, needsZone: Bool = false) -> Timestamp? {
        var reader = ISO8601Parser(rest: Array(text.utf8)[...])
        guard let time = reader.timestamp(), reader.hasZone || !needsZone else { return nil }
        return time
    }

    /// The same time of day that many months earlier, or on the last day of that month if it is shorter.
    /// - Returns: nil if that is before the year 1, or the year of `time` does not have four digits.
    package static func earlier(_ time: Timestamp, months: Int64) -> Timestamp? {
        var reader = ISO8601Parser(rest: Array(ISO8601.text(seconds: time.seconds).utf8)[...])
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2),
            reader.take("T"), months <= 120_000
        else { return nil }
        let total = year * 12 + month - 1 - months
        guard total >= 12 else { return nil }
        let (then, place) = (total / 12, total % 12 + 1)
        let days = ISO8601.days(year: then, month: place, day: min(day, Self.days(in: place, of: then)))
        return time.adding(seconds: (days - ISO8601.days(year: year, month: month, day: day)) * 86_400)
    }

    private mutating func timestamp() -> Timestamp? {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
            (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day)
        else { return nil }
        let midnight = ISO8601.days(year: year, month: month, day: day) * 86_400
        if rest.isEmpty { return Timestamp(seconds: midnight) }
        guard take("T") || take("t") || take(" "), let hour = number(2), take(":"), let minute = number(2),
            hour < 24, minute < 60
        else { return nil }
        var second: Int64 = 0
        if take(":") {
            guard let whole = number(2), whole <= 60 else { return nil }
            second = whole
        }
        guard let fraction = fraction(), let offset = offset(), rest.isEmpty else { return nil }
        let seconds = midnight + hour * 3_600 + minute * 60 + second - offset
        return Timestamp(microseconds: seconds * 1_000_000 + fraction)
    }

    /// Microseconds; further digits are dropped.
    private mutating func fraction() -> Int64? {
        guard take(".") || take(",") else { return 0 }
        let digits = rest.prefix(while: Self.isDigit)
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        var value: Int64 = 0
        for place in 0..<6 {
            value = value * 10 + (place < digits.count ? Int64(digits[digits.startIndex + place] - 0x30) : 0)
        }
        return value
    }

    /// Seconds east of Greenwich.
    private mutating func offset() -> Int64? {
        if rest.isEmpty { return 0 }
        hasZone = true
        if take("Z") || take("z") { return 0 }
        let isWest = take("-")
        guard isWest || take("+"), let hours = number(2), hours < 24 else { return nil }
        let hasColon = take(":")
        let minutes = rest.isEmpty && !hasColon ? 0 : number(2)
        guard let minutes, minutes < 60 else { return nil }
        return (hours * 3_600 + minutes * 60) * (isWest ? -1 : 1)
    }

    private mutating func number(_ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == mark.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
