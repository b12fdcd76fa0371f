internal import Foundation
internal import ProtobufWire

/// Splits a text into the parts for an index: three characters from each of its characters on, without case and diacritics. One mark precedes the text and
/// two follow it, so that beginnings and ends are parts as well, and every one or two characters begin a part.
enum TextParts {
    /// Raised whenever a text would give different parts.
    static let version = "1"

    private static let (other, start, end) = (
        Unicode.Scalar(1 as UInt8), Unicode.Scalar(2 as UInt8), Unicode.Scalar(3 as UInt8)
    )
    /// The only part of a text that may stand for others as well.
    static let anything: [UInt8] = [4]

    /// Calls `visit` with each part, in the order of the text.
    static func visit(_ text: String, _ visit: ([UInt8]) -> Void) {
        let (folded, isCertain) = fold(text)
        if !isCertain { visit(anything) }
        cut([start] + folded + [end, end], visit)
    }

    /// The parts of a text that is stored as UTF-8, with ill-formed sequences repaired.
    static func visit(ofUTF8 text: RawSpan, _ visit: ([UInt8]) -> Void) {
        guard (0..<text.byteCount).allSatisfy({ text.byte(at: $0) < 0x80 }) else {
            guard text.isUTF8, let folded = KnownLetters.folded(text) else { return self.visit(text.asRepairedString, visit) }
            return cut([start] + folded + [end, end], visit)
        }
        func letter(at place: Int) -> UInt8 {
            guard place < text.byteCount else { return UInt8(end.value) }
            return UInt8(self.letter(text.byte(at: place)).value)
        }
        var part = [0, UInt8(start.value), letter(at: 0)]
        for place in 1...text.byteCount + 1 {
            (part[0], part[1], part[2]) = (part[1], part[2], letter(at: place))
            visit(part)
        }
    }

    /// The letter of an ASCII character.
    static func letter(_ byte: UInt8) -> Unicode.Scalar {
        (0x41...0x5A).contains(byte) ? Unicode.Scalar(byte | 0x20) : byte < 5 ? other : Unicode.Scalar(byte)
    }

    private static func cut(_ scalars: [Unicode.Scalar], _ visit: ([UInt8]) -> Void) {
        var part: [UInt8] = []
        for place in 0..<max(0, scalars.count - 2) {
            part.removeAll(keepingCapacity: true)
            for scalar in scalars[place..<place + 3] { append(scalar, to: &part) }
            visit(part)
        }
    }

    private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        if scalar.isASCII { bytes.append(UInt8(scalar.value)) } else { bytes += UTF8.encode(scalar) ?? .init() }
    }

    /// A text that matches a pattern, whatever the options, has the folded pattern in its folded form: each character is folded by itself. But one
    /// mark is a letter if only case is ignored, so a text with it is never skipped.
    private static func fold(_ text: String) -> (scalars: [Unicode.Scalar], isCertain: Bool) {
        var (folded, isCertain): ([Unicode.Scalar], Bool) = ([], true)
        folded.reserveCapacity(text.utf8.count)
        for scalar in text.withFewMarksInARow.decomposedStringWithCanonicalMapping.unicodeScalars {
            if scalar.value == 0x345 { isCertain = false }
            folded += letters(scalar)
        }
        return (folded, isCertain)
    }

    /// The contribution of a character of a decomposed text.
    private static func letters(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        guard !WordFold.isDiacritic(scalar) else { return [] }
        return WordFold.caseless(scalar).unicodeScalars.map { $0.value < 5 ? other : $0 }
    }

    /// The letters of a character whose fold does not depend on its neighbours, as that of marks does which are not ignored; nil of others.
    static func lettersAlone(_ scalar: Unicode.Scalar) -> [Unicode.Scalar]? {
        let parts = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
        let isAlone = parts.allSatisfy {
            $0.value != 0x345 && (WordFold.isDiacritic($0) || $0.properties.canonicalCombiningClass == .notReordered)
        }
        return isAlone ? parts.flatMap(letters) : nil
    }

    /// What the parts of a text must be to match a pattern: all of `whole`, and one that begins with `beginning`, if that is set.
    struct Wanted: Sendable {
        var whole: [[UInt8]] = []
        var beginning: [UInt8]?
        /// Its name in `explain`.
        let property: String
    }

    /// Further parts of a pattern are not looked up: the text is read anyway.
    private static let mostParts = 16

    /// - Returns: nil if every text may match.
    static func wanted(by pattern: TextPattern, of property: String) -> Wanted? {
        let folded = fold(pattern.text)
        guard folded.isCertain else { return nil }
        var scalars = folded.scalars
        if pattern.place == .beginning || pattern.place == .whole { scalars.insert(start, at: 0) }
        if pattern.place == .end || pattern.place == .whole { scalars.append(end) }
        guard !folded.scalars.isEmpty || pattern.place == .whole else { return nil }
        var wanted = Wanted(property: property)
        guard scalars.count > 2 else {
            var beginning: [UInt8] = []
            for scalar in scalars { append(scalar, to: &beginning) }
            wanted.beginning = beginning
            return wanted
        }
        cut(scalars) { part in
            if wanted.whole.count < mostParts, !wanted.whole.contains(part) { wanted.whole.append(part) }
        }
        return wanted
    }
}
