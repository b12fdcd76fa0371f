internal import Foundation
package import LMDB
package import Projections
internal import ProtobufWire

/// Some rows of a query, the cursor for the next ones, and their total number, as of one point in time.
public struct QueryPage<Row: QueryRow>: Sendable {
    public let rows: [Row]
    /// Nil if there is no further row. Where the filter tests rows as they come, the next page may be empty.
    public let next: QueryCursor?
    /// How many rows match the predicate, regardless of cursor, limit and offset; nil if the filter's limit was reached.
    public let total: Int?
    /// Why the page is incomplete: the filter tested as many rows as the descriptor allows, with the descriptor's reason for the limit.
    public let truncated: String?
    public let cost: QueryCost
}

/// How much a query has read.
public struct QueryCost: Sendable, Hashable {
    /// How many keys of rows, or entries of an index.
    public var keys = 0
    /// How many rows were decoded.
    public var rows = 0

    public init() {}
}

extension QueryRun {
    /// The rows after the descriptor's cursor, the cursor after them, and the total, in one consistent read.
    package func page(in store: ViewStore) throws -> QueryPage<Row> { try page(in: store, store.environment.beginRead()) }

    package func page(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> QueryPage<Row> {
        var reader = try PageReader(descriptor, plan)
        try reader.read(store, transaction)
        let isTruncated = reader.isTruncated
        let total = isTruncated ? nil : try total(store, transaction, &reader)
        return QueryPage(
            rows: reader.rows, next: reader.next, total: total,
            truncated: isTruncated ? descriptor.filterLimit?.reason ?? "" : nil, cost: reader.cost)
    }

    /// The rows of a page, without cursor and total.
    func pagedRows(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> [Row] {
        var reader = try PageReader(descriptor, plan)
        try reader.read(store, transaction)
        guard !reader.isTruncated else {
            throw QueryError(
                .filterLimit,
                "more rows would have to be tested than the query allows; `page` returns those that were found")
        }
        return reader.rows
    }

    private func total(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, _ reader: inout PageReader<Row>
    ) throws -> Int? {
        var all = descriptor
        (all.after, all.fetchLimit, all.fetchOffset, all.sortBy) = (nil, nil, 0, [])
        let plan = try countingPlan(all)
        if plan.filter == nil, plan.sources[0].cover == nil { return try transaction.count(store.table(Row.table)) }
        var (count, cost) = (0, reader.cost)
        try plan.visitKeys(store, transaction, needsValues: plan.filter != nil) { key, value, _ in
            cost.keys += 1
            if let filter = plan.filter {
                guard reader.mayFilter() else { return false }
                cost.rows += 1
                guard let row = Row(key: key, value: value) else { throw QueryPlan<Row>.malformed(store) }
                guard try filter.holds(row) else { return true }
            }
            count += 1
            return true
        }
        reader.cost = cost
        return reader.isTruncated ? nil : count
    }
}

/// Reads the rows of a page.
struct PageReader<Row: QueryRow> {
    private let plan: QueryPlan<Row>
    private let order: CursorOrder<Row>
    private let last: [UInt8]?
    private let skips: Int
    private let limit: Int
    private var filterings: Int
    private var decoder: RowDecoder
    private(set) var rows: [Row] = []
    private(set) var next: QueryCursor?
    private(set) var isTruncated = false
    var cost = QueryCost()

    init(_ descriptor: FetchDescriptor<Row>, _ plan: QueryPlan<Row>) throws(QueryError) {
        self.plan = plan
        order = try CursorOrder(descriptor.sortBy)
        last = try descriptor.after.map(order.place)
        skips = max(0, descriptor.fetchOffset)
        limit = max(0, descriptor.fetchLimit ?? .max)
        filterings = descriptor.filterLimit?.rows ?? .max
        decoder = RowDecoder(plan.fields)
    }

    /// Whether another row may be tested.
    mutating func mayFilter() -> Bool {
        guard filterings > 0 else {
            isTruncated = true
            return false
        }
        filterings -= 1
        return true
    }

    mutating func read(_ store: ViewStore, _ transaction: borrowing ReadTransaction) throws {
        guard limit > 0 else { return }
        if plan.order == nil { try readInOrder(store, transaction) } else { try readAll(store, transaction) }
    }

    private mutating func readInOrder(_ store: ViewStore, _ transaction: borrowing ReadTransaction) throws {
        let plan = plan
        let start = last.map { plan.isGathered ? order.primaryKey($0) : order.key($0, in: plan.sources[0]) }
        var skipped = 0
        var end: [UInt8] = []
        try plan.visitKeys(store, transaction, after: start, needsValues: true) { key, value, _ in
            cost.keys += 1
            guard rows.count < limit else {
                next = order.cursor(end)
                return false
            }
            guard let row = try match(key, value, store) else { return !isTruncated }
            if skipped < skips {
                skipped += 1
                return true
            }
            if rows.count == limit - 1 { end = order.place(of: row, key) }
            rows.append(row)
            return true
        }
    }

    /// Sorts rows that are read in another order, holding at most twice as many as requested.
    private mutating func readAll(_ store: ViewStore, _ transaction: borrowing ReadTransaction) throws {
        let plan = plan
        let (reach, isCut) = limit.addingReportingOverflow(skips)
        let (kept, isLarge) = reach.addingReportingOverflow(1)
        let most = isCut || isLarge ? Int.max : kept
        let held = most > .max / 2 ? Int.max : max(2 * most, 4_096)
        var found: [(place: [UInt8], row: Row)] = []
        try plan.visitKeys(store, transaction, needsValues: true) { key, value, _ in
            cost.keys += 1
            guard let row = try match(key, value, store) else { return !isTruncated }
            let place = order.place(of: row, key)
            if let last, !last.lexicographicallyPrecedes(place) { return true }
            found.append((place, row))
            if found.count >= held {
                found.sort { $0.place.lexicographicallyPrecedes($1.place) }
                found.removeLast(found.count - most)
            }
            return true
        }
        found.sort { $0.place.lexicographicallyPrecedes($1.place) }
        let page = found.dropFirst(skips).prefix(limit)
        rows = page.map(\.row)
        if let end = page.last, found.count > skips + page.count { next = order.cursor(end.place) }
    }

    /// The row if it matches; nil if it does not, or may no longer be tested.
    private mutating func match(_ key: RawSpan, _ value: RawSpan, _ store: ViewStore) throws -> Row? {
        if plan.filter != nil { guard mayFilter() else { return nil } }
        cost.rows += 1
        guard let row: Row = decoder.row(key, value) else { throw QueryPlan<Row>.malformed(store) }
        if let filter = plan.filter { guard try filter.holds(row) else { return nil } }
        return row
    }
}
