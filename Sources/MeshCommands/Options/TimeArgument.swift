import ArgumentParser
import EventLog
import Foundation

/// A point in time as people write it: ISO 8601, a date, `2h ago`, `yesterday`, `now`, or seconds since 1970. UTC unless
/// stated otherwise.
struct TimeArgument: ExpressibleByArgument, Equatable {
    var time: Timestamp

    init?(argument: String) { self.init(argument, now: .now) }

    init?(_ argument: String, now: Timestamp) {
        let text = argument.trimmingCharacters(in: .whitespaces)
        if let time = Self.word(text.lowercased(), now) ?? Self.distance(text.lowercased(), now) ?? ISOTime.parse(text) {
            self.time = time
        } else {
            return nil
        }
    }

    private static let day: Int64 = 86_400

    private static func word(_ text: String, _ now: Timestamp) -> Timestamp? {
        let today = now.seconds - now.seconds % day
        switch text {
        case "now": return now
        case "today": return Timestamp(seconds: today)
        case "yesterday": return Timestamp(seconds: today - day)
        default:
            // A short number is a year or a typo, not a second of the early seventies.
            guard text.utf8.count >= 9, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Int64(text).map { Timestamp(seconds: $0) }
        }
    }

    /// `90s ago`, `2 hours ago`, `3d`.
    private static func distance(_ text: String, _ now: Timestamp) -> Timestamp? {
        let words = text.hasSuffix(" ago") ? String(text.dropLast(4)) : text
        let digits = words.prefix { $0.isASCII && $0.isNumber }
        let unit = words.dropFirst(digits.count).trimmingCharacters(in: .whitespaces)
        guard let count = Int64(digits), !unit.isEmpty else { return nil }
        let seconds: Int64
        switch unit {
        case "s", "sec", "second", "seconds": seconds = 1
        case "m", "min", "minute", "minutes": seconds = 60
        case "h", "hour", "hours": seconds = 3_600
        case "d", "day", "days": seconds = day
        case "w", "week", "weeks": seconds = 7 * day
        default: return nil
        }
        let (distance, overflows) = count.multipliedReportingOverflow(by: seconds)
        return overflows ? nil : now.adding(seconds: -distance)
    }
}
