internal import Projections
internal import ProtobufWire

/// Keys from one to another, both included.
struct KeyRange {
    var low: [UInt8]
    var high: [UInt8]

    /// The keys of a cover as disjoint ranges in order; nil if there are more than a few, or they are scattered.
    static func ranges(_ cover: KeyCover, _ shape: KeyShape) -> [KeyRange]? {
        var ranges: [KeyRange] = []
        for box in cover.boxes {
            var fronts: [[UInt64]] = [[]]
            var isClosed = false
            for (number, set) in box.numbers.enumerated() {
                let largest = shape.largest(number)
                if isClosed {
                    guard set.isAll(upTo: largest) else { return nil }
                } else if set.isPoints(KeyCover.mostBoxes) {
                    guard fronts.count * set.intervals.count <= KeyCover.mostBoxes else { return nil }
                    fronts = fronts.flatMap { front in set.intervals.map { front + [$0.lowerBound] } }
                } else {
                    guard fronts.count * set.intervals.count <= KeyCover.mostBoxes else { return nil }
                    for front in fronts {
                        for interval in set.intervals {
                            let rest = shape.widths.indices.dropFirst(number + 1)
                            ranges.append(
                                KeyRange(
                                    low: shape.key(of: front + [interval.lowerBound] + rest.map { _ in 0 }),
                                    high: shape.key(of: front + [interval.upperBound] + rest.map(shape.largest))))
                        }
                    }
                    isClosed = true
                }
            }
            if !isClosed { ranges += fronts.map { KeyRange(low: shape.key(of: $0), high: shape.key(of: $0)) } }
        }
        ranges.sort { $0.low.lexicographicallyPrecedes($1.low) }
        var merged: [KeyRange] = []
        for range in ranges {
            guard let last = merged.last, !last.high.lexicographicallyPrecedes(range.low) else {
                merged.append(range)
                continue
            }
            if last.high.lexicographicallyPrecedes(range.high) { merged[merged.count - 1].high = range.high }
        }
        return merged
    }
}
