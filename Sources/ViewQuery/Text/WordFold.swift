internal import Foundation

/// How texts become words, the same for what is stored and for what is looked for.
///
/// A word is a run of letters, digits and marks. Case, diacritics and compatible forms (full width, ligatures) make no difference; an apostrophe
/// within a word is passed over. Each ideograph and each kana is a word, since nothing separates them, and each emoji, without its skin tone.
enum WordFold {
    /// In bytes: a longer word is known by its beginning and a hash.
    static let longestWord = 64
    /// Raised whenever a text would give other words, so that what is stored is made anew.
    static let version = "1"

    /// Calls `visit` with each word, as folded UTF-8 of 1 to 64 bytes, in the order of the text.
    static func words(of text: String, _ visit: ([UInt8]) -> Void) {
        var text = text
        var word: [UInt8] = []
        func end() {
            guard !word.isEmpty else { return }
            visit(cut(word))
            word.removeAll(keepingCapacity: true)
        }
        func add(_ ascii: UInt8) {
            switch ascii {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): word.append(ascii)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): word.append(ascii | 0x20)
            case UInt8(ascii: "'"): return
            default: end()
            }
        }
        let isASCII = text.withUTF8 { bytes in
            guard unsafe bytes.allSatisfy({ $0 < 0x80 }) else { return false }
            for place in bytes.indices { unsafe add(bytes[place]) }
            end()
            return true
        }
        if isASCII { return }
        // Most texts that are not ASCII have emoji only, which have no other forms.
        let isPlain = text.unicodeScalars.allSatisfy { $0.isASCII || (0x1F300...0x1FAFF).contains($0.value) }
        for scalar in (isPlain ? text : text.decomposedStringWithCompatibilityMapping).unicodeScalars {
            if scalar.isASCII {
                add(UInt8(scalar.value))
                continue
            }
            switch kind(of: scalar) {
            case .letter: appendFolded(scalar, to: &word)
            case .single:
                end()
                appendFolded(scalar, to: &word)
                end()
            case .passedOver: continue
            case .separator: end()
            }
        }
        end()
    }

    /// The text as `words` folds it, but with all that stands between its words.
    static func folded(_ text: String, case foldsCase: Bool, diacritics foldsDiacritics: Bool) -> String {
        var folded = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            if foldsDiacritics, isDiacritic(scalar) { continue }
            if foldsCase { folded.append(contentsOf: caseless(scalar).unicodeScalars) } else { folded.append(scalar) }
        }
        return String(folded)
    }

    private enum Kind {
        case letter
        /// A word by itself.
        case single
        case passedOver
        case separator
    }

    private static func kind(of scalar: Unicode.Scalar) -> Kind {
        if isDiacritic(scalar) || scalar == "'" || scalar == "\u{2019}" { return .passedOver }
        let properties = scalar.properties
        // Variation selectors and the joiner of emoji.
        if (0xFE00...0xFE0F).contains(scalar.value) || scalar.value == 0x200D || properties.isEmojiModifier { return .passedOver }
        if properties.isIdeographic || (0x3040...0x30FF).contains(scalar.value) { return .single }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark,
            .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            return .letter
        default:
            return properties.isEmoji && scalar.value > 0xFF ? .single : .separator
        }
    }

    private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool { (0x0300...0x036F).contains(scalar.value) }

    private static func appendFolded(_ scalar: Unicode.Scalar, to word: inout [UInt8]) {
        word.append(contentsOf: caseless(scalar).utf8)
    }

    /// Through upper case, so that ß is ss and every sigma one.
    private static func caseless(_ scalar: Unicode.Scalar) -> String {
        scalar.properties.uppercaseMapping.unicodeScalars.reduce(into: "") { $0 += $1.properties.lowercaseMapping }
    }

    private static func cut(_ word: [UInt8]) -> [UInt8] {
        guard word.count > longestWord else { return word }
        // FNV-1a.
        let hash = word.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Array(word.prefix(longestWord - 8)) + (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * UInt64($0))) }
    }
}
