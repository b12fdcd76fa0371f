public import Foundation

/// Asks for rows by the words of a text, the best answers first.
///
/// ```swift
/// for hit in try ledger.search(TextQuery("water pump", in: \MessageRow.text)) { print(hit.score, hit.row.text) }
/// ```
/// Case, diacritics and compatible forms make no difference, nor does the order of the words. The rank is Okapi BM25 (k1 = 1.2, b = 0.75), over the
/// rows that the view has; rows of the same rank come newest first.
public struct TextQuery<Row: QueryRow>: Sendable {
    public enum Demand: Sendable {
        case allWords
        case anyWord
    }

    public var text: String
    /// The text that is searched: one of the row's `texts`.
    public var property: any KeyPath<Row, String> & Sendable
    public var demand: Demand
    /// What a row must be besides.
    public var predicate: Predicate<Row>?
    /// What must be in texts of the row besides, all of it.
    public var textConditions: [TextCondition<Row>] = []
    public var fetchLimit: Int?
    public var fetchOffset = 0
    /// Whether archived rows come, too.
    public var includesArchived = false

    public init(
        _ text: String, in property: any KeyPath<Row, String> & Sendable, _ demand: Demand = .allWords,
        where predicate: Predicate<Row>? = nil, fetchLimit: Int? = 20
    ) {
        self.text = text
        self.property = property
        self.demand = demand
        self.predicate = predicate
        self.fetchLimit = fetchLimit
    }

    /// Whether texts have the words that are asked for, and one of these texts at least one of them.
    package func isAnswered(by texts: [String], oneOfThem own: String) -> Bool {
        var wanted: Set<[UInt8]> = []
        WordFold.words(of: text) { wanted.insert($0) }
        var (found, isOwn) = (Set<[UInt8]>(), false)
        WordFold.words(of: own) { if wanted.contains($0) { isOwn = true } }
        guard isOwn else { return false }
        for text in texts { WordFold.words(of: text) { if wanted.contains($0) { found.insert($0) } } }
        return demand == .anyWord || found == wanted
    }
}

/// A row that answers a search, and how well: comparable within one search only.
public struct TextHit<Row: Sendable>: Sendable {
    public var row: Row
    public var score: Double

    package init(row: Row, score: Double) { (self.row, self.score) = (row, score) }
}
