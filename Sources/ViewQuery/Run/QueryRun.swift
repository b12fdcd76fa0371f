internal import Foundation
internal import LMDB
public import Projections
internal import ProtobufWire

/// Answers a query from a view's store.
public struct QueryRun<Row: QueryRow> {
    private let descriptor: FetchDescriptor<Row>
    private let plan: QueryPlan<Row>

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
    public func rows(in store: ViewStore) throws -> [Row] {
        guard limit > 0 else { return [] }
        guard let order = plan.order else {
            var (rows, skipped): ([Row], Int) = ([], 0)
            try visit(store) { row in
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
        try visit(store) { row in
            rows.append(row)
            if rows.count >= mostHeld {
                rows = rows.sorted(using: order)
                rows.removeLast(rows.count - kept)
            }
            return true
        }
        return Array(rows.sorted(using: order).dropFirst(skips).prefix(limit))
    }

    /// How many rows there are, offset and limit heeded; where the keys say it all, no row is decoded.
    public func count(in store: ViewStore) throws -> Int {
        let (reach, isCut) = limit.addingReportingOverflow(skips)
        let most = isCut ? Int.max : reach
        guard most > 0 else { return 0 }
        var count = 0
        if plan.filter == nil {
            try visitKeys(store) { _, _ in
                count += 1
                return count < most
            }
        } else {
            try visit(store) { _ in
                count += 1
                return count < most
            }
        }
        return max(0, count - skips)
    }

    /// Visits the rows for which the predicate holds, in the order of their keys or its reverse, in one consistent read.
    private func visit(_ store: ViewStore, _ body: (consuming Row) throws -> Bool) throws {
        try visitKeys(store) { key, value in
            guard let row = Row(key: key, value: value) else {
                throw QueryError(.malformedRow, "a row of \(Row.view) in \(store.path) cannot be read; run `meshledger rebuild`")
            }
            if let filter = plan.filter, try !filter(row) { return true }
            return try body(row)
        }
    }

    /// Visits the keys of the plan; a key outside of them is left by a seek to the next one that may be inside.
    private func visitKeys(_ store: ViewStore, _ body: (RawSpan, RawSpan) throws -> Bool) throws {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(Row.table))
        let layout = plan.layout
        guard let cover = plan.cover else {
            var isThere = plan.isReversed ? try cursor.last() : try cursor.first()
            while isThere {
                guard try body(cursor.key, cursor.value) else { return }
                isThere = plan.isReversed ? try cursor.previous() : try cursor.next()
            }
            return
        }
        var place = layout.widths.indices.map { plan.isReversed ? layout.largest($0) : 0 }
        while let start = plan.isReversed ? cover.floor(place) : cover.ceiling(place) {
            let key = layout.key(of: start)
            var isThere =
                plan.isReversed ? try cursor.seek(atOrBefore: key.rawSpan) : try cursor.seek(atOrAfter: key.rawSpan)
            var left: [UInt64]?
            while isThere, left == nil {
                guard let numbers = layout.numbers(of: cursor.key) else {
                    throw QueryError(
                        .malformedRow, "a key of \(Row.view) in \(store.path) cannot be read; run `meshledger rebuild`")
                }
                guard cover.contains(numbers) else {
                    left = numbers
                    break
                }
                guard try body(cursor.key, cursor.value) else { return }
                isThere = plan.isReversed ? try cursor.previous() : try cursor.next()
            }
            guard let left else { return }
            place = left
        }
    }
}
