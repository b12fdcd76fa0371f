public import Foundation

/// Asks for rows by the words of a text, the best answers first.
///
/// ```swift
/// for hit in try ledger.search(TextQuery("water pump", in: \MessageRow.text)) { print(hit.score, hit.row.text) }
/// ```
/// Case, diacritics and compatible forms make no difference, nor does the order of the words. The rank is Okapi BM25 (k1 = 1.2, b = 0.75), over the
/// rows that the view has; of several properties it is the sum of their ranks, and a word may be in any of them. Rows of the same rank come newest
/// first.
public struct TextQuery<Row: QueryRow>: Sendable {
    public enum Demand: Sendable {
        case allWords
        case anyWord
    }

    public var text: String
    /// The texts that are searched: some of the row's `texts`.
    public var properties: [any KeyPath<Row, String> & Sendable]
    public var demand: Demand
    /// Whether words that are spelt a little otherwise count, too: with one letter more, less, other or changed with its neighbour in words of four
    /// letters or more, two in those of eight or more. All spellings together rank as one word, which an inexact one has half as often.
    public var isFuzzy = false
    /// What a row must be besides.
    public var predicate: Predicate<Row>?
    /// What must be in texts of the row besides, all of it.
    public var textConditions: [TextCondition<Row>] = []
    /// What other views say of the rows besides, all of it.
    public var conditions: [RowCondition<Row>] = []
    public var fetchLimit: Int?
    public var fetchOffset = 0
    /// Whether archived rows come, too.
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

/// A row that answers a search, and how well: comparable within one search only.
public struct TextHit<Row: Sendable>: Sendable {
    public var row: Row
    public var score: Double
}
