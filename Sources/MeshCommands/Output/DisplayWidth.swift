import ProtobufWire

/// How many columns of a terminal a text takes, and how to make any text safe to show there.
enum DisplayWidth {
    static func of(_ text: String) -> Int { isPlain(text) ? text.utf8.count : text.reduce(0) { $0 + of($1) } }

    /// Whether it is of ASCII's printable letters, as most texts are.
    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } }

    /// For what is displayed as one character: emoji sequences and flags take two, combining marks take none.
    static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.count == 1, first.value < 0x300 { return 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if scalars.contains(where: { $0.value == 0xfe0f || $0.properties.isEmojiPresentation }) { return 2 }
        return isWide(first.value) ? 2 : 1
    }

    /// The East Asian wide ranges of Unicode, in blocks.
    private static func isWide(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
            0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x20000...0x3fffd:
            true
        default: false
        }
    }

    private static let names: [Unicode.Scalar: String] = ["\t": "\\t", "\n": "\\n", "\r": "\\r"]

    /// Control and invisible characters as `\t` or `\u{1b}`, so that a node's name cannot steer the terminal, and names that differ look different.
    static func safe(_ text: String, keeping kept: Set<Unicode.Scalar> = []) -> String {
        guard !isPlain(text), text.unicodeScalars.contains(where: { $0.isControl || isHidden($0) || isTag($0) }) else {
            return text
        }
        var safe = ""
        var isInFlag = false
        for scalar in text.unicodeScalars {
            isInFlag = scalar == blackFlag || isInFlag && isTag(scalar)
            if scalar.isControl || isHidden(scalar) || isTag(scalar) && !isInFlag, !kept.contains(scalar) {
                safe += names[scalar] ?? "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    /// Invisible characters that join nothing: soft hyphens, zero-width spaces and word joiners, fillers, byte order marks.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xad, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x200b, 0x2060...0x206f, 0x3164, 0xfeff, 0xffa0, 0xfff0...0xfffb,
            0xe0000...0xe001f, 0xe0080...0xe00ff, 0xe01f0...0xe0fff:
            true
        default: false
        }
    }

    /// After a black flag, tags spell which country's flag it is; anywhere else they are invisible.
    private static let blackFlag: Unicode.Scalar = "\u{1f3f4}"
    private static func isTag(_ scalar: Unicode.Scalar) -> Bool { (0xe0020...0xe007f).contains(scalar.value) }

    /// A text in lines of so many columns, broken between words where that is possible.
    static func wrapped(_ text: String, to width: Int) -> [String] {
        guard of(text) > width, width > 0 else { return [text] }
        var lines: [String] = []
        var (line, used) = ("", 0)
        func end() {
            lines.append(line)
            (line, used) = ("", 0)
        }
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let length = of(String(word))
            if used > 0, used + 1 + length <= width {
                line += " " + word
                used += 1 + length
                continue
            }
            if used > 0 { end() }
            guard length > width else {
                (line, used) = (String(word), length)
                continue
            }
            for character in word {
                let wide = of(character)
                if used + wide > width, used > 0 { end() }
                line.append(character)
                used += wide
            }
        }
        end()
        return lines
    }

    /// The beginning of a text in so many columns, with `…` where something was cut off.
    static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        var cut = ""
        var used = 0
        for character in text {
            guard used + of(character) < width else { break }
            cut.append(character)
            used += of(character)
        }
        return cut + "…"
    }
}
