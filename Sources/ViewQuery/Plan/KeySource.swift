internal import Foundation

/// Keys of a table of rows, or entries of one of its indexes, that a query looks at.
struct KeySource<Row: QueryRow> {
    let layout: KeyLayout<Row>
    /// Nil for all.
    let cover: KeyCover?
    /// The cover's keys as ranges, where they are a few.
    let ranges: [KeyRange]?

    init(_ layout: KeyLayout<Row>, _ cover: KeyCover?) {
        self.layout = layout
        self.cover = cover
        ranges = cover.flatMap { KeyRange.ranges($0, layout) }
    }

    /// How well the cover bounds what is read: two for each leading property with few values, one for a range behind them; 0 where all keys, or keys
    /// all over the table, are looked at.
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
            return strength + (sets.first?.isAll(upTo: layout.largest(place.numbers.lowerBound)) == false ? 1 : 0)
        }
        return strength
    }

    /// Properties that have only one value.
    static func isFixed(_ place: KeyLayout<Row>.Place, _ cover: KeyCover?) -> Bool {
        guard let cover, cover.boxes.count == 1 else { return false }
        return place.numbers.allSatisfy { cover.boxes[0].numbers[$0].point != nil }
    }

    /// Whether the order of the keys, or its reverse, is that of the descriptors, and where they are equal that of the rows' keys; nil where it
    /// is not.
    ///
    /// Rows that are equal in the order come in that of their keys, in its reverse where the last descriptor is a reverse one.
    static func direction(_ descriptors: [SortDescriptor<Row>], _ layout: KeyLayout<Row>, _ cover: KeyCover?) -> SortOrder? {
        [SortOrder.forward, .reverse].first { isOrdered(descriptors, layout, cover, $0) }
    }

    private static func isOrdered(
        _ descriptors: [SortDescriptor<Row>], _ layout: KeyLayout<Row>, _ cover: KeyCover?, _ direction: SortOrder
    ) -> Bool {
        var wanted: [(keyPath: AnyKeyPath, isDescending: Bool)] = []
        for descriptor in descriptors {
            guard let keyPath = descriptor.keyPath else { return false }
            if !wanted.contains(where: { $0.keyPath == keyPath }) { wanted.append((keyPath, descriptor.order == .reverse)) }
        }
        let (sorted, isLastDescending) = (wanted.count, descriptors.last?.order == .reverse)
        for column in Row.columns where column.isKey && !wanted.contains(where: { $0.keyPath == column.keyPath as AnyKeyPath }) {
            wanted.append((column.keyPath, isLastDescending))
        }
        var places = layout.places.filter { !isFixed($0, cover) }[...]
        for (rank, next) in wanted.enumerated() {
            guard let place = places.first, place.column.keyPath as AnyKeyPath == next.keyPath else {
                guard let place = layout.place(of: next.keyPath), isFixed(place, cover) else { return false }
                continue
            }
            guard (place.isDescending == next.isDescending) == (direction == .forward) else { return false }
            guard rank >= sorted || place.code.isOrdered else { return false }
            places.removeFirst()
        }
        return true
    }
}
