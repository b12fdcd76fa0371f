import MeshTables

/// Fields of CSV as in RFC 4180. A text that a spreadsheet would run as a formula is prefixed with an apostrophe; of control characters and marks that
/// change the direction of text only line ends and tabs stay, the others are shown as `\u{1b}`.
enum CSVText {
    /// Also in their full-width and small forms, which some spreadsheets treat alike.
    private static let formulaStarts: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\t", "\r", "\n", "\u{ff1d}", "\u{ff0b}", "\u{ff0d}", "\u{ff20}",
        "\u{fe66}", "\u{fe62}", "\u{fe63}", "\u{fe6b}",
    ]

    /// Whether a text is its own field.
    static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch unsafe text.first {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"): return false
        default: break
        }
        return unsafe PrintableText.isPrintable(text, without: UInt8(ascii: ","), UInt8(ascii: "\""))
    }

    static func field(_ value: CellValue) -> String {
        guard !value.isNumber else { return value.plain }
        let text = value.plain
        return field(DisplayWidth.safe(isFormula(text) ? "'" + text : text, keeping: ["\n", "\r", "\t"]))
    }

    static func isFormula(_ text: String) -> Bool { text.unicodeScalars.first.map { formulaStarts.contains($0) } ?? false }

    /// Compares scalars, not characters: a comma followed by a combining mark is a comma to every reader of CSV.
    static func field(_ text: String) -> String {
        let needsQuotes = text.utf8.contains { $0 == 0x2c || $0 == 0x22 || $0 == 0x0a || $0 == 0x0d }
        guard needsQuotes else { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted += "\"" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
