package import LMDB
package import Projections
internal import ProtobufWire

/// The ways to find the rows of a table: by their key, and by each index.
package struct RowAccess: Sendable {
    package struct Part: Sendable {
        /// The column's index among those of the row.
        package let column: Int
        package let isDescending: Bool
        /// Whether the order of the keys is that of the column's values.
        package let isOrdered: Bool
    }

    /// The index's properties; nil for the rows' key.
    package let index: String?
    package let parts: [Part]

    /// The key first.
    package static func all<Row: QueryRow>(of rows: Row.Type) -> [RowAccess] {
        let layouts = RowLayouts<Row>.shared
        return ([layouts.primary] + layouts.indexes).map { layout in
            RowAccess(
                index: layout.index?.replacing(",", with: ", "),
                parts: layout.places.map { Part(column: $0.number, isDescending: $0.isDescending, isOrdered: $0.code.isOrdered) })
        }
    }

    /// Empty for rows without properties in their key.
    package static func key<Row: QueryRow>(of row: Row) -> [UInt8] { RowLayouts<Row>.shared.primary.key(of: row) ?? [] }

    /// Whether the declared indexes of a store are built.
    package static func isIndexed<Row: QueryRow>(
        _ rows: Row.Type, in store: ViewStore, _ transaction: borrowing ReadTransaction
    ) throws -> Bool {
        guard let indexed = RowLayouts<Row>.shared.indexed else { return true }
        return try store.isIndexed(indexed, in: transaction)
    }
}

/// One of `RowAccess.all`, and the fields that are decoded of the rows which it finds: made once for a statement that runs often.
package struct PreparedAccess<Row: QueryRow>: Sendable {
    fileprivate let layout: KeyLayout<Row>
    fileprivate let fields: ChosenFields?

    /// - Parameters:
    ///   - access: which of `RowAccess.all`.
    ///   - columns: those to decode; nil for all.
    package init(access: Int, columns: [Int]?) {
        let layouts = RowLayouts<Row>.shared
        layout = layouts.indexes.indices.contains(access - 1) ? layouts.indexes[access - 1] : layouts.primary
        fields = columns.flatMap { ChosenFields($0.map { layouts.columns[$0] }, single: layouts.singleFields) }
    }
}

/// Reads the rows of a key or an index a few at a time, for callers that pull them one by one.
package struct RowPull<Row: QueryRow> {
    private let plan: QueryPlan<Row>
    private var last: [UInt8]?
    private var left: Int
    /// Without the index, all rows are read at once: otherwise its entries would be made and sorted each time.
    private let readsAll: Bool
    package private(set) var isAtEnd = false
    /// The stored bytes of the rows that were read.
    package private(set) var byteCount = 0

    /// - Parameters:
    ///   - bounds: the numbers of the access's columns, by their places in it.
    ///   - limit: the most rows; nil for any number.
    package init(
        _ access: PreparedAccess<Row>, bounds: [Int: ColumnNumberSet], isReversed: Bool, limit: Int?, in store: ViewStore,
        _ transaction: borrowing ReadTransaction, includesArchived: Bool, _ reading: any RowReading
    ) throws {
        let layout = access.layout
        var hiding: RowFilter<Row>?
        if Row.archive != nil {
            var descriptor = FetchDescriptor<Row>()
            descriptor.includesArchived = includesArchived
            hiding = descriptor.settled(in: store, transaction).hidingArchived(nil)
        }
        let filter = try BoundConditions<Row>([], includesArchived: includesArchived, reading).added(to: hiding)
        plan = QueryPlan(
            KeySource(layout, layout.cover(bounds)), filter, filter == nil ? access.fields : nil, isReversed: isReversed)
        left = limit ?? .max
        readsAll = try layout.index != nil && !RowAccess.isIndexed(Row.self, in: store, transaction)
    }

    /// Appends the next rows, up to a number.
    package mutating func read(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, most: Int, into rows: inout [Row]
    ) throws {
        try read(store, transaction, most: most, into: &rows) { _ in }
    }

    /// The same, with the rows' keys.
    package mutating func read(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, most: Int, into rows: inout [Row], keys: inout [[UInt8]]
    ) throws {
        try read(store, transaction, most: most, into: &rows) { keys.append($0.asArray) }
    }

    private mutating func read(
        _ store: ViewStore, _ transaction: borrowing ReadTransaction, most: Int, into rows: inout [Row],
        _ note: (RawSpan) -> Void
    ) throws {
        guard !isAtEnd, left > 0 else {
            isAtEnd = true
            return
        }
        let (most, plan) = (readsAll ? left : min(most, left), plan)
        var decoder = RowDecoder(plan.fields)
        var part = Part(most: most)
        if let filter = plan.filter {
            try plan.visitKeys(store, transaction, after: last, needsValues: true) { key, value, place in
                guard let row: Row = decoder.row(key, value) else { throw QueryPlan<Row>.malformed(store) }
                guard try filter.holds(row) else { return true }
                rows.append(row)
                note(key)
                return part.goesOn(value, behind: place)
            }
        } else {
            try plan.visitKeys(store, transaction, after: last, needsValues: true) { key, value, place in
                guard decoder.append(key, value, to: &rows) else { throw QueryPlan<Row>.malformed(store) }
                note(key)
                return part.goesOn(value, behind: place)
            }
        }
        left -= part.count
        byteCount += part.byteCount
        last = part.end
        isAtEnd = part.end == nil || left == 0
    }

    /// How much of a part is read: a value, since each access to variables of a closure would be checked.
    private struct Part {
        let most: Int
        var count = 0
        var byteCount = 0
        /// The place of the last row, once all are read.
        var end: [UInt8]?

        @inline(__always)
        mutating func goesOn(_ value: RawSpan, behind place: RawSpan) -> Bool {
            count += 1
            byteCount += value.byteCount
            guard count == most else { return true }
            end = place.asArray
            return false
        }
    }
}

extension KeyLayout {
    /// Nil for all keys.
    fileprivate func cover(_ bounds: [Int: ColumnNumberSet]) -> KeyCover? {
        guard !bounds.isEmpty else { return nil }
        var boxes = [all]
        for (number, set) in bounds.sorted(by: { $0.key < $1.key }) where places.indices.contains(number) {
            let place = places[number]
            switch set {
            case .range(let range): narrow(&boxes, place, [IntervalSet([range])])
            case .points(let points):
                if place.numbers.count == 1 {
                    narrow(&boxes, place, [IntervalSet(points.compactMap(\.first).map { $0...$0 })])
                } else {
                    // Too many boxes would cost more than they save.
                    guard points.count * boxes.count <= KeyCover.mostBoxes else { continue }
                    let before = boxes
                    boxes = points.flatMap { point in
                        var some = before
                        narrow(&some, place, point.map { IntervalSet([$0...$0]) })
                        return some
                    }
                }
            }
        }
        return KeyCover(boxes: boxes.filter { !$0.isEmpty }, isExact: true)
    }

    private func narrow(_ boxes: inout [KeyBox], _ place: Place, _ sets: [IntervalSet]) {
        for box in boxes.indices {
            for (number, set) in zip(place.numbers, sets) {
                boxes[box].numbers[number] = place.isDescending ? set.mirrored(shape.largest(number)) : set
            }
        }
    }
}
