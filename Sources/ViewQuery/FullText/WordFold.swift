internal import Foundation
internal import ProtobufWire

/// Splits texts into words, in the same way for stored and searched texts.
///
/// A word is a run of letters, digits and marks. Case, diacritics and compatible forms (full width, ligatures) are ignored; an apostrophe
/// within a word is skipped. Each ideograph and each kana is a word, since nothing separates them, and each emoji, without its skin tone.
enum WordFold {
    /// In bytes: a longer word is represented by its beginning and a hash.
    static let longestWord = 64
    /// Raised whenever a text would give different words, so that indexes are rebuilt.
    static let version = "2"

    /// Calls `visit` with each word, as folded UTF-8 of 1 to 64 bytes, in the order of the text.
    static func words(of text: String, _ visit: ([UInt8]) -> Void) {
        var text = text
        let isPlain = text.withUTF8 { bytes in unsafe plainWords(bytes.span, visit) }
        if !isPlain { words(decomposing: text, visit) }
    }

    /// The words of a text that is stored as UTF-8, with ill-formed sequences repaired.
    static func words(ofUTF8 bytes: RawSpan, _ visit: ([UInt8]) -> Void) {
        let isPlain = unsafe bytes.withUnsafeBytes { text in
            unsafe bytes.isUTF8 && plainWords(text.bindMemory(to: UInt8.self).span, visit)
        }
        if !isPlain { words(of: bytes.asRepairedString, visit) }
    }

    /// - Returns: false if the text has characters outside the table of known folds; no word was visited then.
    private static func plainWords(_ text: Span<UInt8>, _ visit: ([UInt8]) -> Void) -> Bool {
        guard ScalarFold.knowsAll(text) else { return false }
        var splitter = WordSplitter()
        splitter.addKnown(text, visit)
        splitter.end(visit)
        return true
    }

    /// The same without the table of known folds; the results must be equal.
    static func words(decomposing text: String, _ visit: ([UInt8]) -> Void) {
        var splitter = WordSplitter()
        splitter.add(decomposing: text, visit)
        splitter.end(visit)
    }

    /// The text as `words` folds it, but with everything between its words.
    static func folded(_ text: String, case foldsCase: Bool, diacritics foldsDiacritics: Bool) -> String {
        var folded = String.UnicodeScalarView()
        for scalar in text.withFewMarksInARow.decomposedStringWithCanonicalMapping.unicodeScalars {
            if foldsDiacritics, isDiacritic(scalar) { continue }
            if foldsCase { folded.append(contentsOf: caseless(scalar).unicodeScalars) } else { folded.append(scalar) }
        }
        return String(folded)
    }

    static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool { (0x0300...0x036F).contains(scalar.value) }

    /// Through upper case, so that ß becomes ss and every sigma the same.
    static func caseless(_ scalar: Unicode.Scalar) -> String {
        scalar.properties.uppercaseMapping.unicodeScalars.reduce(into: "") { $0 += $1.properties.lowercaseMapping }
    }

    static func cut(_ word: [UInt8]) -> [UInt8] {
        guard word.count > longestWord else { return word }
        // FNV-1a.
        let hash = word.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Array(word.prefix(longestWord - 8)) + (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * UInt64($0))) }
    }
}
