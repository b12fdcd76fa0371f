public import Foundation

/// Which rows of a view to fetch, in which order, and how many.
///
/// ```swift
/// let since: UInt32 = 1_790_000_000
/// var newest = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == 0x1902_5c00 && $0.time >= since })
/// newest.sortBy = [SortDescriptor(\.time, order: .reverse)]
/// newest.fetchLimit = 100
/// let rows = try ledger.fetch(newest)
/// ```
public struct FetchDescriptor<Row: QueryRow>: Sendable {
    /// Nil for all rows. Parts that compare properties of the row's key with values that do not depend on the row become key ranges.
    public var predicate: Predicate<Row>?
    /// Further conditions on texts of the rows; all must hold.
    public var textConditions: [TextCondition<Row>] = []
    /// Further conditions on other views, for example that related rows exist; all must hold.
    public var conditions: [RowCondition<Row>] = []
    /// Empty for the order of the rows' keys. Rows that compare equal come in the order of their keys, or in reverse if the last descriptor is in reverse
    /// order.
    public var sortBy: [SortDescriptor<Row>]
    public var fetchLimit: Int?
    public var fetchOffset = 0
    /// The row after which a page begins, as returned with the previous page; nil for the first.
    public var after: QueryCursor?
    /// How many rows a page may decode to test them with the filter; nil for any number.
    public var filterLimit: FilterLimit?
    /// The properties to fetch; empty for all. Only these, those of the key and those that the query itself needs are decoded: the others
    /// have the values of an empty row. Groups, related rows and other results that are built from whole rows have whole ones.
    public var propertiesToFetch: [any PartialKeyPath<Row> & Sendable] = []
    /// Whether to refuse a query that has to read every row of the view. Its indexes are missing while the view is built, and during a burst of packets that
    /// replaces most of its rows.
    public var requiresIndex = false
    /// Whether to include archived rows.
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
