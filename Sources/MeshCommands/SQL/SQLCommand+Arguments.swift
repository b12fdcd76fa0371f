import MeshTables

extension SQLCommand {
    /// A numeric literal of SQLite is a number.
    ///
    /// `0012` and `1e05` are texts, since short names of nodes look like them: SQLite compares a number with a text as it writes the number itself.
    static func value(_ text: String) -> SQLValue {
        if let number = Int64(text), !hasLeadingZero(text), text.first != "+" { return .integer(number) }
        if let digits = text.wholeMatch(of: /0[xX]([0-9a-fA-F]{1,16})/)?.1 {
            return UInt64(digits, radix: 16).map { .integer(Int64(bitPattern: $0)) } ?? .text(text)
        }
        let isNumber = text.wholeMatch(of: /-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/) != nil
        guard isNumber, !hasLeadingZero(text), text.wholeMatch(of: /[0-9eE]{4}/) == nil,
            let number = Double(text)
        else { return .text(text) }
        return .real(number)
    }

    private static func hasLeadingZero(_ text: String) -> Bool { text.contains(/^-?0[0-9]/) }

    // MARK: Arguments that look like options

    /// No argument of a process has this character.
    private static let mark: Character = "\0"

    /// Marks negative numbers, and statements that begin with a comment, so that the parser does not take them for options.
    static func marked(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].map { isValue($0) ? String(mark) + $0 : $0 } + arguments[end...]
    }

    private static func isValue(_ argument: String) -> Bool {
        if argument.contains(/^-\.?[0-9]/) { return true }
        return argument.hasPrefix("--") && argument.wholeMatch(of: /--[a-z-]+(=(.|\n)*)?/) == nil
    }

    /// A text of the parser without the marks.
    static func unmarked(_ text: String) -> String { text.filter { $0 != mark } }

    /// An argument without its mark.
    static func plain(_ argument: String) -> String { argument.first == mark ? String(argument.dropFirst()) : argument }
}
