internal import Foundation
package import LMDB
package import Projections
internal import ProtobufWire

/// Applies the unique rules of a view's rows.
package struct UniqueRows<Row: QueryRow> {
    private struct Keyed {
        let key: [UInt8]
        let row: Row
    }

    private let layouts = RowLayouts<Row>.shared
    private let store: ViewStore
    private let reading: (any RowReading)?

    package init(in store: ViewStore, _ reading: (any RowReading)? = nil) {
        self.store = store
        self.reading = reading
    }

    /// The rows of the query that are current by every rule. Limit and offset count these.
    /// - Throws: `QueryError` if the query cannot be answered, and errors of the view's file.
    package func current(_ descriptor: FetchDescriptor<Row>) throws -> [Row] {
        var all = descriptor
        (all.fetchLimit, all.fetchOffset, all.propertiesToFetch) = (nil, 0, [])
        let transaction = try store.environment.beginRead()
        var (found, skipped): ([Row], Int) = ([], 0)
        let limit = max(0, descriptor.fetchLimit ?? .max)
        for row in try QueryRun(all, reading).rows(in: store, transaction) where found.count < limit {
            guard try isCurrent(row, transaction) else { continue }
            if skipped < descriptor.fetchOffset { skipped += 1 } else { found.append(row) }
        }
        return found
    }

    /// Whether the row is current by every rule.
    /// - Throws: `QueryError` if the query cannot be answered, and errors of the view's file.
    package func isCurrent(_ row: Row, _ transaction: borrowing ReadTransaction) throws -> Bool {
        for (rule, layout) in zip(Row.uniques, layouts.uniques) {
            let rivals = try rivals(of: row, rule, layout, transaction)
            guard rivals.count > 1, let key = layouts.primary.key(of: row) else { continue }
            if Self.winner(rivals, rule.collision) != key { return false }
        }
        return true
    }

    /// The rows that have the same values, in the order of their keys; empty if one of the values is nil and nils differ.
    private func rivals(
        of row: Row, _ rule: UniqueRule<Row>, _ layout: KeyLayout<Row>, _ transaction: borrowing ReadTransaction
    ) throws -> [Keyed] {
        let places = layout.places.prefix(layout.indexedCount)
        let columns = places.map(\.column)
        if !rule.nilsAreEqual, columns.contains(where: { $0.code?.isNil?(row) ?? false }) { return [] }
        var box = layout.all
        for place in places {
            guard let numbers = place.code.numbers(row[keyPath: place.column.keyPath]) else { return [] }
            for (number, value) in zip(place.numbers, numbers) { box.numbers[number] = IntervalSet([value...value]) }
        }
        let source = KeySource(layout, KeyCover(boxes: [box], isExact: true))
        var rivals: [Keyed] = []
        try QueryPlan(source).visitKeys(store, transaction, needsValues: true) { key, value, _ in
            guard let rival = Row(key: key, value: value) else { throw QueryPlan<Row>.malformed(store) }
            // The index stores only the beginning of a long text.
            if columns.allSatisfy({ $0.isSameText(row, rival) }) { rivals.append(Keyed(key: key.asArray, row: rival)) }
            return true
        }
        return rivals
    }

    private static func winner(_ rivals: [Keyed], _ collision: UniqueRule<Row>.Collision) -> [UInt8]? {
        switch collision {
        case .keepFirst: return rivals.first?.key
        case .replace: return rivals.last?.key
        case .resolve(let choose):
            guard var current = rivals.first else { return nil }
            let primary = RowLayouts<Row>.shared.primary
            for rival in rivals.dropFirst() {
                let chosen = primary.key(of: choose(current.row, rival.row))
                if chosen == rival.key { current = rival }
            }
            return current.key
        }
    }
}
