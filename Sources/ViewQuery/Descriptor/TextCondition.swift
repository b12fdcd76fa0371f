/// What a text of a row must contain, for queries that a predicate cannot express: with or without case and accents.
///
/// ```swift
/// var found = FetchDescriptor<MessageRow>(sortBy: [SortDescriptor(\.time, order: .reverse)])
/// found.textConditions = [.contains("cafe", in: \.text), !.hasPrefix("test", in: \.text)]
/// ```
/// If the text is one of the row's `texts` with an index of its parts, only rows that may contain it are tested; otherwise rows are tested one by
/// one, and no index narrows them, unless the predicate does. A row whose text is nil contains nothing.
public struct TextCondition<Row: QueryRow>: Sendable {
    let holds: @Sendable (borrowing Row) -> Bool
    /// The properties whose texts are tested.
    let properties: [any AnyKeyPath & Sendable]

    /// The pattern that a text must contain, if that is the whole condition.
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
