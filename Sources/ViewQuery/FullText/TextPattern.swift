/// A text that other texts contain, begin with or end with.
///
/// It is compared letter by letter, even if it is one character, a space or an emoji. Every text contains the empty text.
public struct TextPattern: Sendable {
    public enum Place: Sendable, CaseIterable {
        case anywhere
        case beginning
        case end
        case whole
    }

    public struct Options: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let ignoresCase = Options(rawValue: 1)
        public static let ignoresDiacritics = Options(rawValue: 2)
    }

    let text: String
    let place: Place
    private let wanted: [UInt8]
    private let options: Options

    public init(_ text: String, at place: Place = .anywhere, _ options: Options = [.ignoresCase, .ignoresDiacritics]) {
        self.text = text
        self.place = place
        self.options = options
        wanted = Self.form(text, options)
    }

    /// Whether a text matches the pattern. Texts that are equal in Swift are treated alike, and a letter is never matched without its marks unless
    /// diacritics are ignored.
    public func matches(_ text: String) -> Bool {
        if let found = matchesASCII(text) { return found }
        let bytes = Self.form(text, options)
        guard bytes.count >= wanted.count else { return false }
        let last = bytes.count - wanted.count
        switch place {
        case .anywhere: return (0...last).contains { isAt($0, bytes) }
        case .beginning: return isAt(0, bytes)
        case .end: return isAt(last, bytes)
        case .whole: return last == 0 && isAt(0, bytes)
        }
    }

    /// The same without a copy, if the whole text is ASCII; nil otherwise.
    private func matchesASCII(_ text: String) -> Bool? {
        let utf8 = text.utf8Span
        let bytes = utf8.span
        for index in bytes.indices where bytes[index] >= 0x80 { return nil }
        guard bytes.count >= wanted.count, place != .whole || bytes.count == wanted.count else { return false }
        let last = bytes.count - wanted.count
        for start in (place == .end ? last : 0)...(place == .beginning ? 0 : last) {
            var count = 0
            while count < wanted.count, wanted[count] == folded(bytes[start + count]) { count += 1 }
            if count == wanted.count { return true }
        }
        return false
    }

    private func folded(_ ascii: UInt8) -> UInt8 {
        options.contains(.ignoresCase) && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(ascii) ? ascii | 0x20 : ascii
    }

    private func isAt(_ start: Int, _ bytes: [UInt8]) -> Bool {
        for offset in wanted.indices where bytes[start + offset] != wanted[offset] { return false }
        return isBoundary(start, bytes) && isBoundary(start + wanted.count, bytes)
    }

    /// Whether no letter is separated from its mark: the text there does not begin with a combining mark. Only the block U+0300 to U+036F is checked.
    private func isBoundary(_ place: Int, _ bytes: [UInt8]) -> Bool {
        guard place + 1 < bytes.count, !wanted.isEmpty else { return true }
        let (lead, next) = (bytes[place], bytes[place + 1])
        return !(lead == 0xCC && next >= 0x80) && !(lead == 0xCD && next < 0xB0)
    }

    private static func form(_ text: String, _ options: Options) -> [UInt8] {
        Array(
            WordFold.folded(text, case: options.contains(.ignoresCase), diacritics: options.contains(.ignoresDiacritics)).utf8)
    }
}
