public import Foundation

/// Searches rows by the words of a text, the best results first.
///
/// ```swift
/// for hit in try ledger.search(TextQuery("water pump", in: \MessageRow.text)) { print(hit.score, hit.row.text) }
/// ```
/// Case, diacritics and compatible forms are ignored, and so is the order of the words. The rank is Okapi BM25 (k1 = 1.2, b = 0.75), over the
/// rows of the view; for several properties it is the sum of their ranks, and a word may be in any of them. Rows of the same rank come newest
/// first.
public struct TextQuery<Row: QueryRow>: Sendable {
    public enum Demand: Sendable {
        case allWords
        case anyWord
    }

    public var text: String
    /// The texts to search: some of the row's `texts`.
    public var properties: [any KeyPath<Row, String> & Sendable]
    public var demand: Demand
    /// Whether words with a slightly different spelling also match: with one letter more, less, replaced or swapped with its neighbour in words of four
    /// letters or more, two in those of eight or more. All spellings together rank as one word, in which an inexact one counts half.
    public var isFuzzy = false
    /// A further condition on the rows.
    public var predicate: Predicate<Row>?
    /// Further conditions on texts of the row; all must hold.
    public var textConditions: [TextCondition<Row>] = []
    /// Further conditions on other views; all must hold.
    public var conditions: [RowCondition<Row>] = []
    public var fetchLimit: Int?
    public var fetchOffset = 0
    /// Whether to include archived rows.
    public var includesArchived = false

    public init(
        _ text: String, in property: any KeyPath<Row, String> & Sendable, _ demand: Demand = .allWords,
        where predicate: Predicate<Row>? = nil, fetchLimit: Int? = 20
    ) {
        self.init(text, in: [property], demand, where: predicate, fetchLimit: fetchLimit)
    }

    public init(
        _ text: String, in properties: [any KeyPath<Row, String> & Sendable], _ demand: Demand = .allWords,
        where predicate: Predicate<Row>? = nil, fetchLimit: Int? = 20
    ) {
        self.text = text
        self.properties = properties
        self.demand = demand
        self.predicate = predicate
        self.fetchLimit = fetchLimit
    }
}

/// A row that matches a search, and its score: comparable within one search only.
public struct TextHit<Row: Sendable>: Sendable {
    public var row: Row
    public var score: Double
}
