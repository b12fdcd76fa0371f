internal import ProtobufWire

/// Sequences as ascending ranges that neither overlap nor touch.
package struct SequenceSet: Sendable, Equatable {
    package private(set) var ranges: [ClosedRange<UInt64>] = []

    package init() {}

    package init(_ unsorted: some Sequence<ClosedRange<UInt64>>) {
        for range in unsorted.sorted(by: { $0.lowerBound < $1.lowerBound }) { append(range) }
    }

    init(_ ranges: [ClosedRange<EventSequence>]) {
        self.init(ranges.lazy.map { $0.lowerBound.rawValue...$0.upperBound.rawValue })
    }

    var isEmpty: Bool { ranges.isEmpty }
    var last: UInt64 { ranges.last?.upperBound ?? 0 }
    var count: UInt64 { ranges.reduce(0) { $0 &+ ($1.upperBound - $1.lowerBound) &+ 1 } }
    package var sequences: [ClosedRange<EventSequence>] {
        ranges.map { EventSequence($0.lowerBound)...EventSequence($0.upperBound) }
    }

    /// Adds a range that does not begin before the last one.
    mutating func append(_ range: ClosedRange<UInt64>) {
        if let last = ranges.last, range.lowerBound <= last.upperBound || range.lowerBound - 1 == last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        } else {
            ranges.append(range)
        }
    }

    package mutating func append(_ sequence: UInt64) { append(sequence...sequence) }

    package func contains(_ sequence: UInt64) -> Bool { first(from: sequence) == sequence }

    /// The first one that is `sequence` or comes after it.
    package func first(from sequence: UInt64) -> UInt64? {
        let place = ranges.partitioningIndex { $0.upperBound >= sequence }
        return place < ranges.count ? max(ranges[place].lowerBound, sequence) : nil
    }

    /// Those up to `end`.
    package func through(_ end: UInt64) -> SequenceSet {
        var kept = SequenceSet()
        for range in ranges where range.lowerBound <= end { kept.append(range.lowerBound...min(range.upperBound, end)) }
        return kept
    }

    /// Those from `start` on.
    func from(_ start: UInt64) -> SequenceSet {
        var kept = SequenceSet()
        for range in ranges where range.upperBound >= start { kept.append(max(range.lowerBound, start)...range.upperBound) }
        return kept
    }

    /// Those that are not in `other`.
    func subtracting(_ other: SequenceSet) -> SequenceSet {
        var left = SequenceSet()
        var place = 0
        for range in ranges {
            var first = range.lowerBound
            while place < other.ranges.count, other.ranges[place].upperBound < first { place += 1 }
            var next = place
            var isDone = false
            while !isDone, next < other.ranges.count, other.ranges[next].lowerBound <= range.upperBound {
                let cut = other.ranges[next]
                if cut.lowerBound > first { left.append(first...cut.lowerBound - 1) }
                if cut.upperBound >= range.upperBound { isDone = true } else { first = cut.upperBound + 1 }
                next += 1
            }
            if !isDone { left.append(first...range.upperBound) }
        }
        return left
    }
}
