internal import Foundation

/// A character's contribution to a text's words.
enum ScalarFold: Sendable {
    /// A part of a word.
    case letters([UInt8])
    /// A word by itself.
    case single([UInt8])
    case passedOver
    case separator

    /// For a character of a decomposed text.
    init(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case _ where WordFold.isDiacritic(scalar): self = .passedOver
        case 0x27, 0x2019: self = .passedOver
        // Variation selectors and the joiner of emoji.
        case 0xFE00...0xFE0F, 0x200D: self = .passedOver
        case 0x3040...0x30FF: self = .single(Self.folded(scalar))
        default: self.init(scalar.properties, of: scalar)
        }
    }

    private init(_ properties: Unicode.Scalar.Properties, of scalar: Unicode.Scalar) {
        guard !properties.isEmojiModifier else {
            self = .passedOver
            return
        }
        guard !properties.isIdeographic else {
            self = .single(Self.folded(scalar))
            return
        }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark,
            .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            self = .letters(Self.folded(scalar))
        default:
            self = properties.isEmoji && scalar.value > 0xFF ? .single(Self.folded(scalar)) : .separator
        }
    }

    private static func folded(_ scalar: Unicode.Scalar) -> [UInt8] { Array(WordFold.caseless(scalar).utf8) }
}

// MARK: Characters that are known

extension ScalarFold {
    /// Latin, Greek and Cyrillic, and emoji: most of the characters in texts that are not ASCII. A character is known if its fold does not depend on its
    /// neighbours, as the order of marks does.
    private static let ranges = (letters: UInt32(0x80)...0x52F, emoji: UInt32(0x1F300)...0x1FAFF)
    private static let known: (letters: [ScalarFold?], emoji: [ScalarFold?]) = (
        ranges.letters.map { Unicode.Scalar($0).flatMap(alone) }, ranges.emoji.map { Unicode.Scalar($0).flatMap(alone) }
    )

    /// The fold of a character that decomposes into parts of one kind.
    private static func alone(_ scalar: Unicode.Scalar) -> ScalarFold? {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark:
            guard WordFold.isDiacritic(scalar) else { return nil }
        default: break
        }
        var (letters, others): ([UInt8], [ScalarFold]) = ([], [])
        for part in String(scalar).decomposedStringWithCompatibilityMapping.unicodeScalars {
            switch ScalarFold(part) {
            case .letters(let bytes): letters += bytes
            case .passedOver: continue
            case let other: others.append(other)
            }
        }
        if others.isEmpty { return letters.isEmpty ? .passedOver : .letters(letters) }
        return letters.isEmpty && others.count == 1 ? others[0] : nil
    }

    private static func known(_ value: UInt32) -> ScalarFold? {
        if ranges.letters.contains(value) { return known.letters[Int(value - ranges.letters.lowerBound)] }
        if ranges.emoji.contains(value) { return known.emoji[Int(value - ranges.emoji.lowerBound)] }
        return nil
    }

    /// Whether each character of a valid UTF-8 text is ASCII or known.
    static func knowsAll(_ text: Span<UInt8>) -> Bool {
        var place = 0
        while place < text.count {
            if text[place] < 0x80 {
                place += 1
            } else {
                guard let (value, length) = character(text, at: place), known(value) != nil else { return false }
                place += length
            }
        }
        return true
    }

    /// A character of two or four bytes; no others are known.
    private static func character(_ text: Span<UInt8>, at place: Int) -> (value: UInt32, length: Int)? {
        let lead = text[place]
        if lead & 0xE0 == 0xC0, place + 1 < text.count {
            return (UInt32(lead & 0x1F) << 6 | UInt32(text[place + 1] & 0x3F), 2)
        }
        guard lead & 0xF8 == 0xF0, place + 3 < text.count else { return nil }
        let front = UInt32(lead & 0x07) << 18 | UInt32(text[place + 1] & 0x3F) << 12
        return (front | UInt32(text[place + 2] & 0x3F) << 6 | UInt32(text[place + 3] & 0x3F), 4)
    }

    /// The fold of the non-ASCII character at a place of a text whose characters are known, and its length.
    static func next(_ text: Span<UInt8>, at place: Int) -> (fold: ScalarFold, length: Int) {
        guard let (value, length) = character(text, at: place), let fold = known(value) else { return (.separator, 1) }
        return (fold, length)
    }
}
