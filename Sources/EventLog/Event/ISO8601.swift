/// Instants as ISO 8601 in UTC, and the calendar behind them.
package enum ISO8601 {
    /// `2026-11-21T05:13:08Z`.
    package static func text(seconds: Int64) -> String { text(seconds, nil) }

    /// With microseconds: `2026-11-21T05:13:08.250000Z`.
    package static func text(microseconds: Int64) -> String {
        let (seconds, fraction) = floorDivide(microseconds, 1_000_000)
        return text(seconds, fraction)
    }

    package static func append(microseconds: Int64, to text: inout [UInt8]) {
        let (seconds, fraction) = floorDivide(microseconds, 1_000_000)
        append(seconds, fraction, to: &text)
    }

    package static func append(seconds: Int64, to text: inout [UInt8]) { append(seconds, nil, to: &text) }

    private static func append(_ seconds: Int64, _ fraction: Int64?, to text: inout [UInt8]) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { room in
            let count = unsafe write(seconds, fraction, to: room)
            unsafe text.append(contentsOf: UnsafeBufferPointer(rebasing: room[..<count]))
        }
    }

    private static func text(_ seconds: Int64, _ fraction: Int64?) -> String {
        unsafe String(unsafeUninitializedCapacity: longest) { unsafe write(seconds, fraction, to: $0) }
    }

    /// The years of all seconds that 64 bits hold have at most twelve digits and a sign.
    private static let longest = 40

    /// - Returns: how many bytes were written; the longest time fits.
    private static func write(_ seconds: Int64, _ fraction: Int64?, to room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var count = 0
        func put(_ byte: UInt8) {
            unsafe room[count] = byte
            count &+= 1
        }
        func put(_ number: Int64, _ width: Int) {
            if number < 0 { put(UInt8(ascii: "-")) }
            var (rest, digits) = (number.magnitude, 1)
            var larger = rest / 10
            while digits < width || larger > 0 {
                digits += 1
                larger /= 10
            }
            for place in (count..<count + digits).reversed() {
                unsafe room[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            count += digits
        }
        let (day, second) = floorDivide(seconds, 86_400)
        let (year, month, date) = civil(day)
        put(year, 4)
        put(UInt8(ascii: "-"))
        put(month, 2)
        put(UInt8(ascii: "-"))
        put(date, 2)
        put(UInt8(ascii: "T"))
        put(second / 3_600, 2)
        put(UInt8(ascii: ":"))
        put(second / 60 % 60, 2)
        put(UInt8(ascii: ":"))
        put(second % 60, 2)
        if let fraction {
            put(UInt8(ascii: "."))
            put(fraction, 6)
        }
        put(UInt8(ascii: "Z"))
        return count
    }

    /// Days from 1970-01-01 to a date of the proleptic Gregorian calendar (Howard Hinnant's `days_from_civil`).
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floorDivide(shifted, 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date of a day counted from 1970-01-01 (`civil_from_days` of the same author).
    package static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let (era, dayOfEra) = floorDivide(shifted, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// The quotient rounded down, and the rest. Their product would overflow near the lowest number.
    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
