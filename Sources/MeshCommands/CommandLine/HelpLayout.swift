import Foundation

/// Wraps a help text for the terminal: paragraphs as a whole, options beside their names, and command lines so that they can be copied.
enum HelpLayout {
    /// The column at which the parser begins the descriptions of options and commands.
    private static let margin = 26
    /// Wider lines are hard to read.
    private static let widest = 120
    /// A width at which the parser wraps nothing.
    static let unwrapped = 100_000

    /// The width of the terminal; otherwise 80.
    static var width: Int {
        var size = winsize()
        guard unsafe ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return min(widest, max(40, Int(size.ws_col)))
    }

    /// - Parameter text: the parser's text, with unwrapped lines.
    static func wrapped(_ text: String, to width: Int) -> String {
        var lines: [String] = []
        var paragraph: [Substring] = []
        var isOverview = text.hasPrefix("OVERVIEW: ")
        func end() {
            guard !paragraph.isEmpty else { return }
            lines += wrap(paragraph.joined(separator: " "), to: width, indent: 0)
            paragraph = []
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("USAGE: ") {
                end()
                isOverview = false
            }
            if !isOverview {
                let isUsage = line.hasPrefix("USAGE: ") || line.hasPrefix("       meshledger ")
                lines += wrap(line, to: width, indent: isUsage ? 7 + 4 : line.hasPrefix("  ") ? margin : 0)
            } else if line.isEmpty || line.first == " " {
                end()
                lines += line.hasPrefix("  meshledger ") ? command(line, to: width) : wrap(line, to: width, indent: margin)
            } else {
                paragraph.append(line)
            }
        }
        end()
        return lines.joined(separator: "\n")
    }

    /// Wraps at spaces and indents later lines. Spaces within the first line are kept, since they align it.
    private static func wrap(_ text: some StringProtocol, to width: Int, indent: Int) -> [String] {
        var lines: [String] = []
        var rest = String(text)
        while rest.count > width {
            let start = min(lines.isEmpty ? rest.prefix { $0 == " " }.count : indent, width / 2)
            let window = rest.prefix(width + 1)
            let least = rest.index(rest.startIndex, offsetBy: start)
            guard let space = window.lastIndex(of: " "), space > least else { break }
            var line = rest[..<space]
            while line.last == " " { line.removeLast() }
            lines.append(String(line))
            rest = String(repeating: " ", count: min(indent, width / 2)) + rest[rest.index(after: space)...].drop { $0 == " " }
        }
        return lines + [rest]
    }

    /// A command line, with `\` at the end of each continued line, broken before an option if possible, never within quotes.
    private static func command(_ text: Substring, to width: Int) -> [String] {
        guard text.count > width else { return [String(text)] }
        var words: [String] = []
        var quote: Character?
        var word = ""
        for character in text.drop(while: { $0 == " " }) {
            if let open = quote { quote = character == open ? nil : open } else if "'\"".contains(character) { quote = character }
            if character == " ", quote == nil {
                words.append(word)
                word = ""
            } else {
                word.append(character)
            }
        }
        words.append(word)
        // An option stays with its value.
        var parts: [String] = []
        for word in words {
            if let last = parts.last, last.hasPrefix("-") || last == ">", !last.contains(" "), !word.hasPrefix("-") {
                parts[parts.count - 1] += " " + word
            } else {
                parts.append(word)
            }
        }
        var lines: [String] = []
        var line = "  " + (parts.first ?? "")
        for part in parts.dropFirst() {
            if line.count + 1 + part.count + 2 > width, line.contains(" ") {
                lines.append(line + " \\")
                line = "      " + part
            } else {
                line += " " + part
            }
        }
        return lines + [line]
    }
}
