import ArgumentParser

/// A duration: `90d`, `12h`, `1y`.
struct DurationArgument: ExpressibleByArgument, Equatable {
    var seconds: Int64

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), count > 0, let unit = Self.units[String(argument.dropFirst(digits.count))] else {
            return nil
        }
        let (seconds, overflows) = count.multipliedReportingOverflow(by: unit)
        guard !overflows, seconds < Int64.max / 2_000_000 else { return nil }
        self.seconds = seconds
    }

    init(seconds: Int64) { self.seconds = seconds }

    private static let units: [String: Int64] = [
        "s": 1, "min": 60, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000,
    ]

    /// In the largest unit that gives a whole number.
    var text: String {
        for unit in ["y", "d", "h", "min"] {
            if let length = Self.units[unit], seconds % length == 0 { return "\(seconds / length)\(unit)" }
        }
        return "\(seconds)s"
    }
}

/// A size: `10GB`, `500MB`, `1GiB`, or bytes.
struct SizeArgument: ExpressibleByArgument, Equatable {
    var bytes: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let unit = argument.dropFirst(digits.count).lowercased()
        // Of a number below a million the unit was forgotten.
        guard let count = Int(digits), count > 0, !unit.isEmpty || count >= 1_000_000,
            let size = Self.units.first(where: { $0.name == unit })?.bytes
        else {
            return nil
        }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: size)
        guard !overflows else { return nil }
        self.bytes = bytes
    }

    private static let units: [(name: String, bytes: Int)] = [
        ("", 1), ("b", 1), ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000), ("tb", 1_000_000_000_000), ("kib", 1 << 10),
        ("mib", 1 << 20), ("gib", 1 << 30), ("tib", 1 << 40),
    ]
}
