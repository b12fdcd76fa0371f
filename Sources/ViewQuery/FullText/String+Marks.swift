extension String {
    /// The text with an invisible U+034F after every 30 consecutive marks: the Stream-Safe Text Format of UAX #15. Sorting marks
    /// canonically takes time quadratic in their number, and only malicious texts have so many in a row.
    var withFewMarksInARow: String {
        guard hasManyMarksInARow else { return self }
        var safe = UnicodeScalarView()
        var row = 0
        for scalar in unicodeScalars {
            row = Self.isMark(scalar) ? row + 1 : 0
            if row > Self.mostMarks {
                safe.append("\u{34f}")
                row = 1
            }
            safe.append(scalar)
        }
        return String(safe)
    }

    private static let mostMarks = 30

    private var hasManyMarksInARow: Bool {
        guard utf8.count > Self.mostMarks * 2 else { return false }
        var row = 0
        for scalar in unicodeScalars {
            row = Self.isMark(scalar) ? row + 1 : 0
            if row > Self.mostMarks { return true }
        }
        return false
    }

    /// Whether it can change places with an adjacent mark, also when it is decomposed first.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300 else { return false }
        switch scalar.value {
        case 0x0F73, 0x0F75, 0x0F81, 0xFF9E, 0xFF9F: return true
        default: return scalar.properties.canonicalCombiningClass != .notReordered
        }
    }
}
