/// Instants as ISO 8601 in UTC, and the calendar behind them.
package enum ISO8601 {
    /// `2026-11-21T05:13:08Z`.
    package static func text(seconds: Int64) -> String {
        let day = floorDivide(seconds, 86_400)
        let (year, month, date) = civil(day)
        let second = seconds - day * 86_400
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(date, 2))T\(padded(second / 3_600, 2)):"
            + "\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))Z"
    }

    /// With six digits of the second: `2026-11-21T05:13:08.250000Z`.
    package static func text(microseconds: Int64) -> String {
        let seconds = floorDivide(microseconds, 1_000_000)
        return text(seconds: seconds).dropLast() + "." + padded(microseconds - seconds * 1_000_000, 6) + "Z"
    }

    /// Days from 1970-01-01 to a date of the proleptic Gregorian calendar (Howard Hinnant's `days_from_civil`).
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date of a day counted from 1970-01-01 (`civil_from_days` of the same author).
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
