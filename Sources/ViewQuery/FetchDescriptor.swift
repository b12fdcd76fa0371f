public import Foundation

/// Which rows of a view are asked for, in which order, and how many.
///
/// ```swift
/// let since: UInt32 = 1_790_000_000
/// var newest = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == 0x1902_5c00 && $0.time >= since })
/// newest.sortBy = [SortDescriptor(\.time, order: .reverse)]
/// newest.fetchLimit = 100
/// let rows = try ledger.fetch(newest)
/// ```
public struct FetchDescriptor<Row: QueryRow>: Sendable {
    /// Nil for all rows. Parts that compare properties of the row's key with values that do not depend on the row become ranges of keys.
    public var predicate: Predicate<Row>?
    /// What must be in texts of the rows besides, all of it.
    public var textConditions: [TextCondition<Row>] = []
    /// What other views say of the rows besides, all of it: whether related rows exist, say.
    public var conditions: [RowCondition<Row>] = []
    /// Empty for the order of the rows' keys. Rows that are equal in it come in the order of their keys, in its reverse where the last descriptor is a
    /// reverse one.
    public var sortBy: [SortDescriptor<Row>]
    public var fetchLimit: Int?
    public var fetchOffset = 0
    /// The row behind which a page begins, as the page before told; nil for the first.
    public var after: QueryCursor?
    /// How many rows a page may decode to ask them whether they fit; nil for any number.
    public var filterLimit: FilterLimit?
    /// The properties that are wanted; empty for all. Only these, those of the key and those that the query itself needs are decoded: the others
    /// are as in a row of which nothing was stored. Groups, related rows and what else is made of whole rows have whole ones.
    public var propertiesToFetch: [any PartialKeyPath<Row> & Sendable] = []
    /// Whether a query that has to look at every row of the view is refused.
    public var requiresIndex = false
    /// Whether archived rows come, too.
    public var includesArchived = false
    /// Whether it is known that no row of the view was ever archived.
    var noneIsArchived = false

    public init(predicate: Predicate<Row>? = nil, sortBy: [SortDescriptor<Row>] = [], fetchLimit: Int? = nil) {
        self.predicate = predicate
        self.sortBy = sortBy
        self.fetchLimit = fetchLimit
    }

    /// The same, with all properties of the rows.
    public var whole: FetchDescriptor {
        var whole = self
        whole.propertiesToFetch = []
        return whole
    }
}
