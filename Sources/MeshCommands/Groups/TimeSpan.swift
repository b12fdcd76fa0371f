import ArgumentParser
import EventLog

/// A length of time as people write it: `15m`, `1h`, `1d`, `1w`, `1mo`, `1y`.
struct TimeSpan: Equatable {
    private enum Length: Equatable {
        case seconds(Int64)
        /// By the calendar.
        case months(Int64)
    }

    static let week: Int64 = 7 * day
    private static let day: Int64 = 86_400
    /// 1970 began on a Thursday.
    private static let mondayBefore1970: Int64 = -3 * day
    private static let longestMonths: Int64 = 12_000

    private let length: Length

    /// - Throws: an error that says which forms are accepted.
    static func parsed(_ text: String) throws -> TimeSpan {
        guard let span = TimeSpan(argument: text) else {
            throw ValidationError(TimeArgument.ambiguity(text) ?? "a span of time is 90s, 15m, 1h, 1d, 1w, 1mo or 1y")
        }
        return span
    }

    init(seconds: Int64) { length = .seconds(max(1, seconds)) }
    init(months: Int64) { length = .months(max(1, months)) }

    init?(argument: String) {
        let text = argument.trimmingPrefix { $0 == " " }.lowercased()
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).filter { $0 != " " }
        if ["mo", "month", "months", "y", "year", "years"].contains(unit) {
            guard let count = Int64(digits), (1...Self.longestMonths).contains(count) else { return nil }
            let (months, overflows) = count.multipliedReportingOverflow(by: unit.hasPrefix("y") ? 12 : 1)
            guard !overflows, months <= Self.longestMonths else { return nil }
            self.init(months: months)
            return
        }
        let end = Timestamp(seconds: 0)
        guard !digits.isEmpty, let start = TimeArgument(argument, now: end), start.time < end else { return nil }
        self.init(seconds: -start.time.seconds)
    }

    /// Whether spans begin at midnight, so that their date tells which one it is.
    var isOfDays: Bool {
        switch length {
        case .seconds(let seconds): seconds % Self.day == 0
        case .months: true
        }
    }

    /// Which span a time is in, so that the next span has the next number. Days begin at midnight in the zone, weeks on Monday, months and years as in the
    /// calendar.
    func place(of time: Timestamp, in zone: TableZone) -> Int64 { place(ofLocal: zone.local(time.seconds)) }

    /// The same of the date with which a span of days begins.
    func place(ofDate date: Timestamp) -> Int64 { place(ofLocal: date.seconds) }

    private func place(ofLocal local: Int64) -> Int64 {
        switch length {
        case .seconds(let seconds): return Self.floorDivide(local - Self.origin(seconds), seconds)
        case .months(let months):
            let date = ISO8601.civil(Self.floorDivide(local, Self.day))
            return Self.floorDivide(date.year * 12 + date.month - 1, months)
        }
    }

    /// When a span begins.
    func start(of place: Int64, in zone: TableZone) -> Timestamp {
        Timestamp(seconds: zone.seconds(ofLocal: localStart(of: place)))
    }

    /// When the span begins that a time is in. Where the clock is set back, it shows an hour twice, and each of them begins at its own time.
    func start(before time: Timestamp, in zone: TableZone) -> Timestamp {
        let local = zone.local(time.seconds)
        let start = localStart(of: place(ofLocal: local))
        let near = time.seconds - (local - start)
        return Timestamp(seconds: zone.local(near) == start ? near : zone.seconds(ofLocal: start))
    }

    /// How many spans later than another one a span begins.
    /// - Parameters: the starts of both; of days, their dates.
    func distance(from first: Timestamp, to start: Timestamp) -> Int {
        guard !isOfDays, case .seconds(let seconds) = length else { return Int(place(ofDate: start) - place(ofDate: first)) }
        return Int((Double(start.seconds - first.seconds) / Double(seconds)).rounded())
    }

    /// When the span begins that is so many spans later.
    func start(_ distance: Int, after first: Timestamp, in zone: TableZone) -> Timestamp {
        guard !isOfDays, case .seconds(let seconds) = length else {
            return start(of: place(ofDate: first) + Int64(distance), in: zone)
        }
        return first.adding(seconds: Int64(distance) * seconds)
    }

    /// The date with which a span of days begins.
    func date(of place: Int64) -> String { String(TimeText.iso(localStart(of: place)).prefix { $0 != "T" }) }

    private func localStart(of place: Int64) -> Int64 {
        switch length {
        case .seconds(let seconds): return place * seconds + Self.origin(seconds)
        case .months(let months):
            let month = place * months
            let year = Self.floorDivide(month, 12)
            return ISO8601.days(year: year, month: month - year * 12 + 1, day: 1) * Self.day
        }
    }

    private static func origin(_ seconds: Int64) -> Int64 { seconds % week == 0 ? mondayBefore1970 : 0 }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        let (whole, rest) = number.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? whole - 1 : whole
    }
}
