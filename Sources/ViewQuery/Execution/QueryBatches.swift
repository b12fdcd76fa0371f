internal import Foundation
internal import LMDB
package import Projections
internal import ProtobufWire

/// The rows of a query in batches, each read in separate short transactions: concurrent writers can reuse the pages that they
/// free.
///
/// Each row comes at most once, and each row that exists throughout comes; a row that changes meanwhile comes in its old or new state. If
/// the order is not that of keys or of an index, all rows are collected before the first is returned.
public struct QueryBatches<Row: QueryRow> {
    private var query: RepeatedQuery<Row>
    /// The number of rows in a batch, except the last.
    public var size: Int
    private var last: [UInt8]?
    private var (skipped, given) = (0, 0)
    private var isAtEnd = false
    /// The remaining rows, the next one last, if they had to be sorted.
    private var sorted: [Row]?
    /// The remaining keys, the next one last, if they had to be collected.
    private var keys: [RowIdentifier<Row>]?

    /// How long a read may last; a row that takes longer is still finished.
    static var longestRead: Duration { .milliseconds(100) }

    /// - Parameter size: the number of rows in a batch, except the last.
    /// - Throws: `.unsupported` if the query cannot be answered in batches.
    public init(_ descriptor: FetchDescriptor<Row>, size: Int, _ reading: (any RowReading)? = nil) throws(QueryError) {
        query = try RepeatedQuery(descriptor, reading)
        try query.refusePages()
        self.size = max(1, size)
        isAtEnd = query.limit == 0
    }

    /// The next rows, nil after the last.
    /// - Parameter store: returns the store for each read, since the view may have been replaced meanwhile.
    package mutating func next(in store: () throws -> ViewStore) throws -> [Row]? {
        if query.plan.order != nil { return try nextSorted(store) }
        if query.plan.isGathered { return try nextGathered(store) }
        var rows: [Row] = []
        while !isAtEnd, rows.count < size {
            try read(store(), into: &rows)
        }
        return rows.isEmpty ? nil : rows
    }

    /// One short read, from after the last place.
    private mutating func read(_ store: ViewStore, into rows: inout [Row]) throws {
        let (end, size) = (VisitEnd(after: Self.longestRead), size)
        var (skipped, given) = (skipped, given)
        var full: [UInt8]?
        let transaction = try store.environment.beginRead()
        let run = try query.run(in: store, transaction)
        try run.visit(store, transaction, after: last, until: end) { _, place, row in
            guard skipped >= run.skips else {
                skipped += 1
                return true
            }
            given += 1
            rows.append(row)
            guard rows.count == size || given == run.limit else { return true }
            full = place.asArray
            return false
        }
        (self.skipped, self.given) = (skipped, given)
        last = full ?? end.place
        isAtEnd = given >= query.limit || last == nil
    }

    // MARK: Rows whose order is not the order of reading

    private mutating func nextSorted(_ store: () throws -> ViewStore) throws -> [Row]? {
        var rest = try sorted ?? self.sorted(store)
        guard !rest.isEmpty else { return nil }
        let lot = Array(rest.suffix(size).reversed())
        rest.removeLast(lot.count)
        sorted = rest
        return lot
    }

    private mutating func sorted(_ store: () throws -> ViewStore) throws -> [Row] {
        var sorter = ResultSorter<Row, Row>(query.plan.order ?? [], keeping: query.reach) { $0 }
        while !isAtEnd {
            let (current, end) = (try store(), VisitEnd(after: Self.longestRead))
            let transaction = try current.environment.beginRead()
            try query.run(in: current, transaction).visit(current, transaction, after: last, until: end) { _, _, row in
                sorter.insert(row)
                return true
            }
            last = end.place
            isAtEnd = last == nil
        }
        return Array(sorter.sorted().dropFirst(query.skips).prefix(query.limit).reversed())
    }

    /// The keys were found by several ranges or an index and sorted: the rows are read as they are requested.
    private mutating func nextGathered(_ store: () throws -> ViewStore) throws -> [Row]? {
        var rest: [RowIdentifier<Row>]
        if let keys { rest = keys } else { rest = try identifiers(in: store()).reversed() }
        var rows: [Row] = []
        while rows.isEmpty, !rest.isEmpty {
            let current = try store()
            let transaction = try current.environment.beginRead()
            let run = try query.run(in: current, transaction)
            for identifier in rest.suffix(size).reversed() {
                guard let row = try run.row(identifier, in: current, transaction) else { continue }
                if try run.plan.filter?.holds(row) ?? true { rows.append(row) }
            }
            rest.removeLast(min(size, rest.count))
        }
        keys = rest
        return rows.isEmpty ? nil : rows
    }

    private mutating func identifiers(in store: ViewStore) throws -> [RowIdentifier<Row>] {
        let transaction = try store.environment.beginRead()
        return try query.run(in: store, transaction).identifiers(in: store, transaction)
    }
}
