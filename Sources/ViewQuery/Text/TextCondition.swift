/// What a text of a row must have in it, for queries whose predicate cannot say it: with or without case and accents.
///
/// ```swift
/// var found = FetchDescriptor<MessageRow>(sortBy: [SortDescriptor(\.time, order: .reverse)])
/// found.textConditions = [.contains("cafe", in: \.text), !.hasPrefix("test", in: \.text)]
/// ```
/// Where the text is one of the row's `texts` that has its parts indexed, only rows that may have it are asked; else rows are asked one by one, and no
/// index narrows them, unless the predicate does. A row whose text is nil has nothing in it.
public struct TextCondition<Row: QueryRow>: Sendable {
    let holds: @Sendable (borrowing Row) -> Bool
    /// Of the texts that are looked at.
    let properties: [any AnyKeyPath & Sendable]

    /// What a text must have in it, where the condition is just that.
    let pattern: TextPattern?

    private init(
        _ properties: [any AnyKeyPath & Sendable], _ pattern: TextPattern? = nil,
        _ holds: @escaping @Sendable (borrowing Row) -> Bool
    ) {
        self.properties = properties
        self.pattern = pattern
        self.holds = holds
    }

    public init(_ pattern: TextPattern, in property: any KeyPath<Row, String> & Sendable) {
        let text = Row.getter(property)
        self.init([property], pattern) { pattern.matches(text($0)) }
    }

    public init(_ pattern: TextPattern, in property: any KeyPath<Row, String?> & Sendable) {
        let text = Row.getter(property)
        self.init([property]) { text($0).map { pattern.matches($0) } ?? false }
    }

    public static func contains(
        _ text: String, in property: any KeyPath<Row, String> & Sendable,
        _ options: TextPattern.Options = [.ignoresCase, .ignoresDiacritics]
    ) -> TextCondition { TextCondition(TextPattern(text, at: .anywhere, options), in: property) }

    public static func hasPrefix(
        _ text: String, in property: any KeyPath<Row, String> & Sendable,
        _ options: TextPattern.Options = [.ignoresCase, .ignoresDiacritics]
    ) -> TextCondition { TextCondition(TextPattern(text, at: .beginning, options), in: property) }

    public static func hasSuffix(
        _ text: String, in property: any KeyPath<Row, String> & Sendable,
        _ options: TextPattern.Options = [.ignoresCase, .ignoresDiacritics]
    ) -> TextCondition { TextCondition(TextPattern(text, at: .end, options), in: property) }

    public static func any(_ conditions: [TextCondition]) -> TextCondition {
        TextCondition(conditions.flatMap(\.properties)) { row in
            for condition in conditions where condition.holds(row) { return true }
            return false
        }
    }

    public static prefix func ! (condition: TextCondition) -> TextCondition {
        TextCondition(condition.properties) { !condition.holds($0) }
    }
}
