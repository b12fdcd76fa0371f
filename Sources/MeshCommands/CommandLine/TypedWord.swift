/// A word of a shell's command line as it was typed: with quotes and backslashes, perhaps within a quote that is still open.
struct TypedWord {
    /// Shells differ in what a backslash escapes within quotes.
    enum Shell {
        case bash, zsh, fish
    }

    /// What the command would receive.
    private(set) var value = ""
    /// The quote that is still open, and what comes before it.
    private(set) var openQuote: Character?
    private(set) var valueBeforeQuote = ""

    init(_ text: some StringProtocol, in shell: Shell = .bash) {
        var rest = Substring(text)
        while let character = rest.popFirst() {
            switch (openQuote, character) {
            case (nil, "'"), (nil, "\""): (openQuote, valueBeforeQuote) = (character, value)
            case ("'", "'"), ("\"", "\""): openQuote = nil
            case (nil, "\\"): if let next = rest.popFirst() { value.append(next) }
            case ("'", "\\"), ("\"", "\\"):
                if let next = rest.first, Self.escapable(within: openQuote, in: shell).contains(next) {
                    rest.removeFirst()
                    value.append(next)
                } else {
                    value.append(character)
                }
            default: value.append(character)
            }
        }
    }

    /// A value as it is to be typed after the open quote, or else by itself.
    func typed(_ value: some StringProtocol) -> String {
        switch openQuote {
        case "'": String(value).replacing("'", with: "'\\''")
        case "\"": Self.escaped(value, Self.specialInQuotes)
        default: Self.escaped(value, Self.special)
        }
    }

    private static func escapable(within quote: Character?, in shell: Shell) -> Set<Character> {
        switch (quote, shell) {
        case ("'", .fish): ["'", "\\"]
        case ("'", _): []
        case (_, .fish): ["\"", "$", "\\"]
        case (_, .zsh): specialInQuotes.union("!")
        case (_, .bash): specialInQuotes
        }
    }

    private static let specialInQuotes: Set<Character> = ["\\", "\"", "$", "`"]
    private static let special = specialInQuotes.union(" \t'&|;<>()[]{}*?!#~^")

    private static func escaped(_ value: some StringProtocol, _ special: Set<Character>) -> String {
        value.reduce(into: "") { text, character in
            if special.contains(character) { text.append("\\") }
            text.append(character)
        }
    }
}
