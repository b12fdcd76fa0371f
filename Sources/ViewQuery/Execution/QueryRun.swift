internal import Foundation
package import LMDB
package import Projections
internal import ProtobufWire

/// Answers a query from a view's store.
public struct QueryRun<Row: QueryRow> {
    let descriptor: FetchDescriptor<Row>
    let plan: QueryPlan<Row>
    private let reading: (any RowReading)?

    /// - Parameter reading: the source for conditions and archived rows; nil if the view is queried alone.
    /// - Throws: `.unsupported`, and `.needsScan` if the descriptor refuses one.
    public init(_ descriptor: FetchDescriptor<Row>, _ reading: (any RowReading)? = nil) throws(QueryError) {
        self.descriptor = descriptor
        self.reading = reading
        plan = try QueryPlan(descriptor, reading)
    }

    /// The plan for counting rows, whose order does not matter.
    func countingPlan(_ descriptor: FetchDescriptor<Row>) throws(QueryError) -> QueryPlan<Row> {
        try QueryPlan(descriptor, countsOnly: true, reading)
    }

    public var explanation: QueryExplanation { QueryExplanation(plan) }

    var skips: Int { max(0, descriptor.fetchOffset) }
    var limit: Int { max(0, descriptor.fetchLimit ?? .max) }
    /// How many rows the limit and the offset cover.
    var reach: Int {
        let (reach, isCut) = limit.addingReportingOverflow(skips)
        return isCut ? .max : reach
    }

    /// The rows in the descriptor's order, in one consistent read.
    package func rows(in store: ViewStore) throws -> [Row] { try rows(in: store, store.environment.beginRead()) }

    package func rows(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> [Row] {
        if descriptor.after != nil || descriptor.filterLimit != nil { return try pagedRows(in: store, transaction) }
        if plan.order == nil, plan.sources[0].layout.index != nil { return try indexedRows(in: store, transaction) }
        if plan.order == nil, plan.filter == nil { return try allRows(in: store, transaction) }
        return try gather(store, transaction) { _, row in
            row
        } row: {
            $0
        }
    }

    /// The rows of a query without a filter that come in order: each is decoded in place.
    private func allRows(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> [Row] {
        var (rows, skipped): ([Row], Int) = ([], 0)
        let (limit, skips) = (limit, skips)
        guard limit > 0 else { return [] }
        var decoder = RowDecoder(plan.fields)
        try plan.visitKeys(store, transaction, needsValues: true) { key, value, _ in
            guard skipped == skips else {
                skipped += 1
                return true
            }
            guard decoder.append(key, value, to: &rows) else { throw QueryPlan<Row>.malformed(store) }
            return rows.count < limit
        }
        return rows
    }

    /// The rows that indexes find and the filter accepts, in their order: their keys are collected, and some thousands of rows are read at a time.
    private func indexedRows(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> [Row] {
        let lookup = try RowLookup<Row>(store, plan.fields)
        guard limit > 0 else { return [] }
        guard let filter = plan.filter else { return try allIndexedRows(lookup, store, transaction) }
        var (rows, skipped, most): ([Row], Int, Int) = ([], 0, min(max(limit, 64), Self.mostKeys))
        try plan.visitKeyBatches(store, transaction, skipping: 0, most: most) { keys in
            for row in try lookup.rows(of: keys, transaction) where rows.count < limit {
                guard try filter.holds(row) else { continue }
                if skipped < skips { skipped += 1 } else { rows.append(row) }
            }
            most = min(2 * most, Self.mostKeys)
            return rows.count < limit ? most : 0
        }
        return rows
    }

    /// Skipped rows need not be read.
    private func allIndexedRows(
        _ lookup: RowLookup<Row>, _ store: ViewStore, _ transaction: borrowing ReadTransaction
    ) throws -> [Row] {
        var rows: [Row] = []
        try plan.visitKeyBatches(store, transaction, skipping: skips, most: min(limit, Self.mostKeys)) { keys in
            let found = try lookup.rows(of: keys, transaction)
            if rows.isEmpty { rows = found } else { rows += found }
            return min(limit - rows.count, Self.mostKeys)
        }
        return rows
    }

    /// How many are collected before their rows are read.
    private static var mostKeys: Int { 4_096 }

    /// The keys of the rows, in the rows' order. If the keys decide everything, no row is decoded.
    package func identifiers(in store: ViewStore) throws -> [RowIdentifier<Row>] {
        try identifiers(in: store, store.environment.beginRead())
    }

    package func identifiers(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> [RowIdentifier<Row>] {
        try refusePages()
        guard plan.order == nil else {
            return try gather(store, transaction) {
                KeyedItem(key: $0.asArray, row: $1)
            } row: {
                $0.row
            }
            .map { RowIdentifier(key: $0.key) }
        }
        var (found, skipped): ([RowIdentifier<Row>], Int) = ([], 0)
        guard limit > 0 else { return [] }
        try Self.visitMatches(plan, store, transaction) { key in
            if skipped < skips { skipped += 1 } else { found.append(RowIdentifier(key: key.asArray)) }
            return found.count < limit
        }
        return found
    }

    /// The number of rows, including offset and limit; if keys or an index decide everything, no row is decoded.
    package func count(in store: ViewStore) throws -> Int { try count(in: store, store.environment.beginRead()) }

    package func count(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> Int {
        try refusePages()
        guard limit > 0 else { return 0 }
        let plan = plan.order == nil && !plan.isGathered ? plan : try countingPlan(descriptor)
        if plan.filter == nil, plan.sources[0].cover == nil {
            return max(0, min(reach, try transaction.count(store.table(Row.table))) - skips)
        }
        var count = 0
        try Self.visitMatches(plan, store, transaction) { _ in
            count += 1
            return count < reach
        }
        return max(0, count - skips)
    }

    /// The row with this identifier; nil if it no longer exists.
    package func row(
        _ identifier: RowIdentifier<Row>, in store: ViewStore, _ transaction: borrowing ReadTransaction
    ) throws -> Row? {
        guard !identifier.key.isEmpty, identifier.key.count <= 511,
            let value = try transaction.get(store.table(Row.table), identifier.key.rawSpan)
        else { return nil }
        return try Self.decode(identifier.key.rawSpan, value, store)
    }

    /// The same query, whatever properties the descriptor chooses.
    private var wholeRows: QueryRun {
        get throws(QueryError) {
            try QueryRun(descriptor.whole, reading)
        }
    }

    /// Passes every row of the result whole to `body`, unordered unless the result is limited, without keeping any.
    package func forEach(in store: ViewStore, _ transaction: borrowing ReadTransaction, _ body: (consuming Row) throws -> Void)
        throws
    {
        try refusePages()
        guard plan.order == nil || limit == .max && skips == 0 else {
            for row in try wholeRows.rows(in: store, transaction) { try body(row) }
            return
        }
        guard limit > 0 else { return }
        var count = 0
        try visit(store, transaction, decodesAll: true) { _, _, row in
            count += 1
            if count > skips { try body(row) }
            return count < reach
        }
    }

    /// A cursor and a limit of the filter are for pages and `rows` only.
    func refusePages() throws(QueryError) {
        guard descriptor.after == nil, descriptor.filterLimit == nil else {
            throw QueryError(
                .unsupported, "a cursor or a limit of the filter applies to pages and their rows only; leave it out here")
        }
    }

    /// The items made from the rows. If rows are sorted after reading, at most twice the requested number is held.
    private func gather<Item>(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, _ make: (RawSpan, consuming Row) -> Item,
        row: @escaping (Item) -> Row
    ) throws -> [Item] {
        guard limit > 0 else { return [] }
        guard let order = plan.order else {
            var (items, skipped): ([Item], Int) = ([], 0)
            try visit(store, transaction) { key, _, row in
                if skipped < skips { skipped += 1 } else { items.append(make(key, row)) }
                return items.count < limit
            }
            return items
        }
        var sorter = ResultSorter(order, keeping: reach, row: row)
        try visit(store, transaction) { key, _, row in
            sorter.insert(make(key, row))
            return true
        }
        return Array(sorter.sorted().dropFirst(skips).prefix(limit))
    }
}

/// A row and its key.
struct KeyedItem<Row> {
    let key: [UInt8]
    let row: Row
}

/// Sorts items that arrive in the order of keys, and holds at most twice as many as are kept, or a few thousand.
struct ResultSorter<Item, Row> {
    private let order: [SortDescriptor<Row>]
    private let kept: Int
    private let mostHeld: Int
    private let row: (Item) -> Row
    private var items: [Item] = []

    init(_ order: [SortDescriptor<Row>], keeping kept: Int, row: @escaping (Item) -> Row) {
        (self.order, self.kept, self.row) = (order, kept, row)
        let (most, isLarge) = kept.multipliedReportingOverflow(by: 2)
        mostHeld = isLarge ? Int.max : max(most, 4_096)
    }

    mutating func insert(_ item: Item) {
        items.append(item)
        if items.count >= mostHeld {
            items = sorted()
            items.removeLast(max(0, items.count - kept))
        }
    }

    /// Items that are equal in the order keep their sequence.
    func sorted() -> [Item] { items.sorted { order.compare(row($0), row($1)) == .orderedAscending } }
}
