internal import ProtobufWire

/// Numbers, as intervals in ascending order that neither overlap nor touch.
struct IntervalSet: Equatable {
    private(set) var intervals: [ClosedRange<UInt64>]

    static let none = IntervalSet([])

    init(_ intervals: [ClosedRange<UInt64>]) {
        var merged: [ClosedRange<UInt64>] = []
        for interval in intervals.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let last = merged.last, last.upperBound == .max || interval.lowerBound <= last.upperBound + 1 else {
                merged.append(interval)
                continue
            }
            merged[merged.count - 1] = last.lowerBound...max(last.upperBound, interval.upperBound)
        }
        self.intervals = merged
    }

    var isEmpty: Bool { intervals.isEmpty }
    var first: UInt64? { intervals.first?.lowerBound }
    var last: UInt64? { intervals.last?.upperBound }
    /// The only number in it.
    var point: UInt64? { intervals.count == 1 && first == last ? first : nil }

    func contains(_ number: UInt64) -> Bool { ceiling(number) == number }

    /// The least number in it that is not below `number`.
    func ceiling(_ number: UInt64) -> UInt64? {
        let place = intervals.partitioningIndex { $0.upperBound >= number }
        return place < intervals.count ? max(number, intervals[place].lowerBound) : nil
    }

    /// The greatest number in it that is not above `number`.
    func floor(_ number: UInt64) -> UInt64? {
        let place = intervals.partitioningIndex { $0.lowerBound > number }
        return place > 0 ? min(number, intervals[place - 1].upperBound) : nil
    }

    /// Whether it is all numbers up to `largest`.
    func isAll(upTo largest: UInt64) -> Bool { intervals.count == 1 && first == 0 && last == largest }

    /// Whether it consists of at most `most` single numbers.
    func isPoints(_ most: Int) -> Bool { intervals.count <= most && intervals.allSatisfy { $0.lowerBound == $0.upperBound } }

    /// The numbers that are as far from `largest` as these are from 0.
    func mirrored(_ largest: UInt64) -> IntervalSet {
        IntervalSet(intervals.map { largest - $0.upperBound...largest - $0.lowerBound })
    }

    func intersection(_ other: IntervalSet) -> IntervalSet {
        var common: [ClosedRange<UInt64>] = []
        var (left, right) = (0, 0)
        while left < intervals.count && right < other.intervals.count {
            let (mine, theirs) = (intervals[left], other.intervals[right])
            let (low, high) = (max(mine.lowerBound, theirs.lowerBound), min(mine.upperBound, theirs.upperBound))
            if low <= high { common.append(low...high) }
            if mine.upperBound < theirs.upperBound { left += 1 } else { right += 1 }
        }
        return IntervalSet(common)
    }
}
