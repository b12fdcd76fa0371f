import EventLog
import Foundation

/// Times as people and programs read them.
enum TimeText {
    static func iso(_ seconds: Int64) -> String { ISO8601.text(seconds: seconds) }

    static func iso(microseconds: Int64) -> String { ISO8601.text(microseconds: microseconds) }

    /// In place of an unknown time, of which only the import is known.
    static func imported(_ seconds: Int64) -> String { "\(importedWord) \(iso(seconds).prefix(10))" }

    static func isImported(_ text: String) -> Bool { text.hasPrefix(importedWord + " ") }

    static let importedWord = "imported"

    /// How long ago a time was, in the largest unit that fits: `45s`, `12m`, `3h`, `5d`.
    static func age(_ time: UInt32, at now: Int64) -> String {
        let seconds = max(0, now - Int64(time))
        let units: [(length: Int64, name: String)] = [(86_400, "d"), (3_600, "h"), (60, "m")]
        let unit = units.first { seconds >= $0.length } ?? (1, "s")
        return "\(seconds / unit.length)\(unit.name)"
    }
}

/// Where the clock of a table stands.
enum TableZone {
    case utc
    /// That of the computer, or of `TZ`.
    case local

    /// To the second, with the zone: `2026-05-28T22:37:03+02:00`, which every option that takes a time understands.
    func text(_ seconds: Int64) -> String {
        guard self == .local, let offset = Self.offset(seconds), offset != 0 else { return TimeText.iso(seconds) }
        let (shifted, overflows) = seconds.addingReportingOverflow(offset)
        guard !overflows else { return TimeText.iso(seconds) }
        let minutes = abs(offset) / 60
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let zone = "\(offset < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
        return TimeText.iso(shifted).dropLast() + zone
    }

    /// The offset with which a local time ends; nil for any other text.
    static func offset(in text: String) -> String? {
        let bytes = text.utf8
        guard bytes.count == 25, bytes.dropFirst(10).first == UInt8(ascii: "T") else { return nil }
        let offset = text.suffix(6)
        return offset.first == "+" || offset.first == "-" ? String(offset) : nil
    }

    /// Seconds since 1970 by its clock: what UTC would have at that reading.
    func local(_ seconds: Int64) -> Int64 {
        guard self == .local, let offset = Self.offset(seconds) else { return seconds }
        let (shifted, overflows) = seconds.addingReportingOverflow(offset)
        return overflows ? seconds : shifted
    }

    /// When its clock shows such a reading. Where the clock is set back it does so twice.
    /// - Parameter isLater: whether the second of these times is meant, not the first.
    func seconds(ofLocal local: Int64, isLater: Bool = false) -> Int64 {
        guard self == .local else { return local }
        let times = Self.times(ofLocal: local)
        if let time = isLater ? times.max() : times.min() { return time }
        // The clock never shows it: it is set ahead there.
        guard let near = Self.offset(local) else { return local }
        let (guess, overflows) = local.subtractingReportingOverflow(near)
        guard !overflows, let offset = Self.offset(guess) else { return local }
        return local.subtractingReportingOverflow(offset).partialValue
    }

    /// With the offset of the day before, and with that of the day after.
    private static func times(ofLocal local: Int64) -> [Int64] {
        [-86_400, 86_400].compactMap { (distance: Int64) in
            let (day, overflows) = local.addingReportingOverflow(distance)
            guard !overflows, let offset = offset(day) else { return nil }
            let (time, isBeyond) = local.subtractingReportingOverflow(offset)
            return !isBeyond && Self.offset(time) == offset ? time : nil
        }
    }

    private static let isZoneRead: Bool = {
        tzset()
        return true
    }()

    /// Seconds east of Greenwich, at that time.
    private static func offset(_ seconds: Int64) -> Int64? {
        guard isZoneRead else { return nil }
        var time = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&time, &parts) != nil else { return nil }
        return unsafe Int64(parts.tm_gmtoff)
    }
}
