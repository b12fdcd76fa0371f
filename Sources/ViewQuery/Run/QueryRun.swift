internal import Foundation
public import LMDB
public import Projections
internal import ProtobufWire

/// Answers a query from a view's store.
public struct QueryRun<Row: QueryRow> {
    let descriptor: FetchDescriptor<Row>
    let plan: QueryPlan<Row>

    /// - Throws: `.unsupported`, and `.needsScan` where the descriptor refuses one.
    public init(_ descriptor: FetchDescriptor<Row>) throws(QueryError) {
        self.descriptor = descriptor
        plan = try QueryPlan(descriptor)
    }

    public var explanation: QueryExplanation { QueryExplanation(plan) }

    private var skips: Int { max(0, descriptor.fetchOffset) }
    private var limit: Int { max(0, descriptor.fetchLimit ?? .max) }

    /// The rows in the order that the descriptor wants; of those that are sorted after they were read, no more than twice the wanted are
    /// held.
    public func rows(in store: ViewStore) throws -> [Row] { try rows(in: store, store.environment.beginRead()) }

    public func rows(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> [Row] {
        guard limit > 0 else { return [] }
        if descriptor.after != nil || descriptor.filterLimit != nil { return try pagedRows(in: store, transaction) }
        guard let order = plan.order else {
            var (rows, skipped): ([Row], Int) = ([], 0)
            try visit(store, transaction) { row in
                if skipped < skips { skipped += 1 } else { rows.append(row) }
                return rows.count < limit
            }
            return rows
        }
        let (reach, isCut) = limit.addingReportingOverflow(skips)
        let kept = isCut ? Int.max : reach
        let (most, isLarge) = kept.multipliedReportingOverflow(by: 2)
        let mostHeld = isLarge ? Int.max : max(most, 4_096)
        var rows: [Row] = []
        try visit(store, transaction) { row in
            rows.append(row)
            if rows.count >= mostHeld {
                rows = rows.sorted(using: order)
                rows.removeLast(rows.count - kept)
            }
            return true
        }
        return Array(rows.sorted(using: order).dropFirst(skips).prefix(limit))
    }

    /// How many rows there are, offset and limit heeded; where keys or an index say it all, no row is decoded.
    public func count(in store: ViewStore) throws -> Int {
        let (reach, isCut) = limit.addingReportingOverflow(skips)
        let most = isCut ? Int.max : reach
        guard most > 0 else { return 0 }
        let plan = plan.order == nil && !plan.isGathered ? plan : try QueryPlan(descriptor, countsOnly: true)
        let transaction = try store.environment.beginRead()
        if plan.filter == nil, plan.sources[0].cover == nil {
            return max(0, min(most, try transaction.count(store.table(Row.table))) - skips)
        }
        var count = 0
        try plan.visitKeys(store, transaction, needsValues: plan.filter != nil) { key, value, _ in
            if let filter = plan.filter, try !filter(decode(key, value, store)) { return true }
            count += 1
            return count < most
        }
        return max(0, count - skips)
    }

    /// Visits the rows for which the predicate holds, in the plan's order, in one consistent read.
    private func visit(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, _ body: (consuming Row) throws -> Bool
    ) throws {
        try plan.visitKeys(store, transaction, needsValues: true) { key, value, _ in
            let row = try decode(key, value, store)
            if let filter = plan.filter, try !filter(row) { return true }
            return try body(row)
        }
    }

    private func decode(_ key: RawSpan, _ value: RawSpan, _ store: ViewStore) throws(QueryError) -> Row {
        guard let row = Row(key: key, value: value) else { throw QueryPlan<Row>.malformed(store) }
        return row
    }
}
