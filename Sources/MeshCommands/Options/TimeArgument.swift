import ArgumentParser
import EventLog
import Foundation
import Synchronization

/// A point in time: ISO 8601, a date, a month, `2h ago`, `yesterday 10:00`, `now`, or a number since 1970. Without a zone it is of the zone in which the
/// command shows times.
struct TimeArgument: Equatable {
    /// The zone of times that name none. Known only when the command line has been parsed.
    static let zone = Mutex(TableZone.utc)
    private static let asOf = Mutex(Timestamp?.none)

    /// Lets `now`, `today` and `2h ago` count from the time as of which a ledger is read; nil for the present.
    static func countFrom(_ time: Timestamp?) { asOf.withLock { $0 = time } }

    /// The accepted forms, for errors.
    static let understood =
        "a time is 2026-01-31, '2026-01-31 10:15', 2026-01-31T10:15:00Z, 2026-01, 2026, 10:15 (today), 'yesterday 10:15', yesterday, today, now, "
        + "'2h ago' or 2h (also s, m, d, w, mo, y), or seconds or milliseconds since 1970; without a zone it is UTC, "
        + "or local for a table on a terminal"

    private let text: String
    private let now: Timestamp
    private let hasOwnNow: Bool
    private let inUTC: Timestamp
    /// Whether it ends a window: of an hour that the clock shows twice, where summer time ends, it means the second.
    private let isEnd: Bool

    /// - Parameter now: what it counts from; by default the present, or the time as of which a ledger is read.
    init?(_ argument: String, now ownNow: Timestamp? = nil, isEnd: Bool = false) {
        self.isEnd = isEnd
        text = argument.trimmingCharacters(in: .whitespaces)
        (now, hasOwnNow) = (ownNow ?? .now, ownNow != nil)
        guard Self.ambiguity(text) == nil, let time = Self.read(text, now, .utc, isEnd) else { return nil }
        inUTC = time
    }

    var time: Timestamp {
        let (zone, asOf) = (Self.zone.withLock { $0 }, hasOwnNow ? nil : Self.asOf.withLock { $0 })
        return zone == .utc && asOf == nil ? inUTC : Self.read(text, asOf ?? now, zone, isEnd) ?? inUTC
    }

    /// Where the year, month, day, minute or second ends that it names; nil if it is an instant, such as `2h ago`.
    var end: Timestamp? {
        let (start, zone) = (time, Self.zone.withLock { $0 })
        switch Self.precision(text.lowercased()) {
        case nil: return nil
        case .seconds(let count): return start.adding(seconds: count)
        case .months(let count):
            let local = Timestamp(seconds: zone.local(start.seconds))
            return ISO8601Parser.earlier(local, months: -count).map { Self.moved($0, from: zone, false) }
        case .day:
            return Self.moved(Timestamp(seconds: zone.local(start.seconds) + Self.day), from: zone, false)
        }
    }

    private enum Precision { case seconds(Int64), day, months(Int64) }

    /// How much a written time leaves open.
    private static func precision(_ text: String) -> Precision? {
        if number(text) != nil { return text.utf8.count < 12 ? .seconds(1) : nil }
        if ["today", "yesterday"].contains(text) { return .day }
        guard text.contains(":") else {
            guard text.first?.isNumber == true, !text.contains(where: \.isLetter) else { return nil }
            return [4: .months(12), 7: .months(1), 10: .day][text.utf8.count]
        }
        guard !text.contains(".") else { return nil }
        let clock = text.split { $0 == "t" || $0 == " " }.last ?? ""
        return .seconds(clock.prefix { !"z+-".contains($0) }.count { $0 == ":" } == 1 ? 60 : 1)
    }

    private static func read(_ text: String, _ now: Timestamp, _ zone: TableZone, _ isEnd: Bool) -> Timestamp? {
        let word = text.lowercased()
        if let time = number(word) ?? distance(word, now) ?? ofDay(word, now, zone, isEnd) { return time }
        guard let time = month(word) ?? ISO8601Parser.parse(text) else { return nil }
        return hasZone(word) ? time : moved(time, from: zone, isEnd)
    }

    /// Whether it ends with `Z` or an offset.
    private static func hasZone(_ text: String) -> Bool {
        guard let clock = text.firstIndex(where: { $0 == "t" || $0 == " " }) else { return false }
        return text.hasSuffix("z") || text[clock...].contains { $0 == "+" || $0 == "-" }
    }

    /// The time at which a clock of the zone shows what a clock of UTC shows at `time`.
    private static func moved(_ time: Timestamp, from zone: TableZone, _ isEnd: Bool) -> Timestamp {
        let moved = zone.seconds(ofLocal: time.seconds, isLater: isEnd)
        return time.adding(seconds: moved - time.seconds)
    }

    /// - Throws: an error that says which forms are accepted.
    static func parsed(_ text: String) throws -> TimeArgument {
        guard let time = TimeArgument(text) else { throw ValidationError(refusal(text)) }
        return time
    }

    /// The same for a time that ends a window.
    static func parsedEnd(_ text: String) throws -> TimeArgument {
        guard let time = TimeArgument(text, isEnd: true) else { throw ValidationError(refusal(text)) }
        return time
    }

    /// Why a text is no time.
    static func refusal(_ text: String) -> String { ambiguity(text) ?? understood }

    /// What is wrong with a lone `M`, as in `5M`; nil for other texts.
    static func ambiguity(_ text: String) -> String? {
        let words = text.lowercased().hasSuffix(" ago") ? text.dropLast(4) : text[...]
        let count = words.prefix { $0.isASCII && $0.isNumber }
        guard !count.isEmpty, words.dropFirst(count.count).trimmingCharacters(in: .whitespaces) == "M" else { return nil }
        return "\(text) may be minutes or months: write \(count)m for minutes or \(count)mo for months"
    }

    private static let day: Int64 = 86_400

    /// A number since 1970: seconds up to the year 5138, above that milliseconds up to the same year, above that microseconds.
    private static func number(_ text: String) -> Timestamp? {
        // A short number is a year or a typo, not a time in the early seventies.
        guard text.utf8.count >= 9, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else {
            return nil
        }
        switch number {
        case ..<100_000_000_000: return Timestamp(seconds: number)
        case ..<100_000_000_000_000: return Timestamp(microseconds: number * 1_000)
        case ..<100_000_000_000_000_000: return Timestamp(microseconds: number)
        default: return nil
        }
    }

    /// `90s ago`, `2 hours ago`, `3d`, `1y`.
    private static func distance(_ text: String, _ now: Timestamp) -> Timestamp? {
        let words = text.hasSuffix(" ago") ? String(text.dropLast(4)) : text
        let digits = words.prefix { $0.isASCII && $0.isNumber }
        let unit = words.dropFirst(digits.count).trimmingCharacters(in: .whitespaces)
        guard let count = Int64(digits), !unit.isEmpty else { return nil }
        let seconds: Int64
        switch unit {
        case "s", "sec", "second", "seconds": seconds = 1
        case "m", "min", "mins", "minute", "minutes": seconds = 60
        case "h", "hour", "hours": seconds = 3_600
        case "d", "day", "days": seconds = day
        case "w", "week", "weeks": seconds = 7 * day
        case "mo", "month", "months": return ISO8601Parser.earlier(now, months: count)
        case "y", "year", "years":
            let (months, overflows) = count.multipliedReportingOverflow(by: 12)
            return overflows ? nil : ISO8601Parser.earlier(now, months: months)
        default: return nil
        }
        let (distance, overflows) = count.multipliedReportingOverflow(by: seconds)
        return overflows ? nil : now.adding(seconds: -distance)
    }

    /// `now`, `today`, `yesterday`, `yesterday 10:00`, or a time of today: `10:00`.
    private static func ofDay(_ text: String, _ now: Timestamp, _ zone: TableZone, _ isEnd: Bool) -> Timestamp? {
        if text == "now" { return now }
        let local = zone.local(now.seconds)
        var start = Timestamp(seconds: local - local % day)
        var clock = text[...]
        for (word, days) in [("today", 0 as Int64), ("yesterday", 1)] where text.hasPrefix(word) {
            start = start.adding(seconds: -days * day)
            clock = clock.dropFirst(word.count)
            if clock.isEmpty { return moved(start, from: zone, isEnd) }
            guard clock.removeFirst() == " " else { return nil }
        }
        let hours = clock.trimmingCharacters(in: .whitespaces)
        guard let colon = hours.firstIndex(of: ":") else { return nil }
        let padded = hours.distance(from: hours.startIndex, to: colon) == 1 ? "0" + hours : hours
        guard let offset = ISO8601Parser.parse("1970-01-01T" + padded) else { return nil }
        let (time, overflows) = start.microseconds.addingReportingOverflow(offset.microseconds)
        guard !overflows else { return nil }
        let read = Timestamp(microseconds: time)
        return hasZone("t" + hours) ? read : moved(read, from: zone, isEnd)
    }

    /// The first instant of a month, `2025-09`, or of a year, `2025`.
    private static func month(_ text: String) -> Timestamp? {
        switch text.utf8.count {
        case 7: ISO8601Parser.parse(text + "-01")
        case 4: ISO8601Parser.parse(text + "-01-01")
        default: nil
        }
    }
}
