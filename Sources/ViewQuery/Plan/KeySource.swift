internal import Foundation

/// Keys of a table of rows, or entries of one of its indexes, that a query examines.
struct KeySource<Row: QueryRow> {
    let layout: KeyLayout<Row>
    /// Nil for all.
    let cover: KeyCover?
    /// The cover's keys as ranges, if there are only a few.
    let ranges: [KeyRange]?

    init(_ layout: KeyLayout<Row>, _ cover: KeyCover?) {
        self.layout = layout
        self.cover = cover
        ranges = cover.flatMap { KeyRange.ranges($0, layout.shape) }
    }

    /// How well the cover bounds what is read: two for each leading property with few values, one for a range after them; 0 if all keys, or keys
    /// scattered over the table, are read.
    static func strength(_ cover: KeyCover?, _ layout: KeyLayout<Row>) -> Int {
        guard let cover else { return 0 }
        return cover.boxes.map { strength($0, layout) }.min() ?? .max
    }

    private static func strength(_ box: KeyBox, _ layout: KeyLayout<Row>) -> Int {
        var strength = 0
        for place in layout.places {
            let sets = box.numbers[place.numbers]
            if sets.allSatisfy({ $0.isPoints(KeyCover.mostBoxes) }) {
                strength += 2
                continue
            }
            return strength + (sets.first?.isAll(upTo: layout.shape.largest(place.numbers.lowerBound)) == false ? 1 : 0)
        }
        return strength
    }

    /// Whether a property is bounded to one value.
    static func isFixed(_ place: KeyLayout<Row>.Place, _ cover: KeyCover?) -> Bool {
        guard let cover, cover.boxes.count == 1 else { return false }
        return place.numbers.allSatisfy { cover.boxes[0].numbers[$0].point != nil }
    }

    /// Whether the order of the keys, or its reverse, is the requested one; nil if neither is.
    static func direction(_ wanted: WantedOrder<Row>, _ layout: KeyLayout<Row>, _ cover: KeyCover?) -> SortOrder? {
        [SortOrder.forward, .reverse].first { isOrdered(wanted, layout, cover, $0) }
    }

    private static func isOrdered(
        _ wanted: WantedOrder<Row>, _ layout: KeyLayout<Row>, _ cover: KeyCover?, _ direction: SortOrder
    ) -> Bool {
        guard wanted.isByColumns else { return false }
        var spot = 0
        func skipFixed() { while spot < layout.places.count, isFixed(layout.places[spot], cover) { spot += 1 } }
        for (rank, next) in wanted.parts.enumerated() {
            skipFixed()
            guard spot < layout.places.count, layout.places[spot].number == next.column else {
                guard let place = layout.place(ofColumn: next.column), isFixed(place, cover) else { return false }
                continue
            }
            let place = layout.places[spot]
            guard (place.isDescending == next.isDescending) == (direction == .forward) else { return false }
            guard rank >= wanted.sortedCount || place.code.isOrdered else { return false }
            spot += 1
        }
        return true
    }
}

/// The order that sort descriptors request, by the numbers of columns.
///
/// Rows that compare equal come in the order of their keys, or in reverse if the last descriptor is in reverse order.
struct WantedOrder<Row: QueryRow> {
    /// The columns of the descriptors, each once, then those of the key.
    private(set) var parts: [(column: Int, isDescending: Bool)] = []
    private(set) var sortedCount = 0
    /// Whether each descriptor refers to a column.
    private(set) var isByColumns = true

    init(_ descriptors: [SortDescriptor<Row>]) {
        let layouts = RowLayouts<Row>.shared
        for descriptor in descriptors {
            guard let column = descriptor.keyPath.flatMap({ layouts.numbers.number(of: $0) }) else {
                isByColumns = false
                return
            }
            if !parts.contains(where: { $0.column == column }) { parts.append((column, descriptor.order == .reverse)) }
        }
        sortedCount = parts.count
        let isLastDescending = descriptors.last?.order == .reverse
        for column in layouts.keyColumns where !parts.contains(where: { $0.column == column }) {
            parts.append((column, isLastDescending))
        }
    }
}
