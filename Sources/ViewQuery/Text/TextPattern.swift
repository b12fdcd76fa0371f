/// A text that other texts contain, begin with or end with.
///
/// It is looked for letter by letter, whatever it is: one character, a space, an emoji. The empty text is in every text.
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

    private let wanted: [UInt8]
    private let place: Place
    private let options: Options

    public init(_ text: String, at place: Place = .anywhere, _ options: Options = [.ignoresCase, .ignoresDiacritics]) {
        self.place = place
        self.options = options
        wanted = Self.form(text, options)
    }

    /// Whether a text has the pattern. Texts that Swift calls equal are treated alike, and a letter is never found without its marks unless
    /// diacritics are ignored.
    public func matches(_ text: String) -> Bool {
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

    private func isAt(_ start: Int, _ bytes: [UInt8]) -> Bool {
        for offset in wanted.indices where bytes[start + offset] != wanted[offset] { return false }
        return isBoundary(start, bytes) && isBoundary(start + wanted.count, bytes)
    }

    /// Whether no letter is cut from its mark: what begins there is no combining mark. Only those of the block U+0300 to U+036F are looked at.
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
