import TestKit
import Testing

@testable import EventLog

/// Ranges of sequences against plain sets of numbers.
struct SequenceSets {
    private func random(_ generator: inout SeededGenerator) -> (ranges: SequenceSet, plain: Set<UInt64>) {
        let ranges = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
            let first = UInt64.random(in: 1...30, using: &generator)
            return first...first + UInt64.random(in: 0...4, using: &generator)
        }
        return (SequenceSet(ranges), Set(ranges.flatMap { Array($0) }))
    }

    private func plain(_ set: SequenceSet) -> Set<UInt64> { Set(set.ranges.flatMap { Array($0) }) }

    @Test func `ranges hold what a set of the same numbers holds, in the fewest ranges`() {
        var generator = SeededGenerator(seed: 7)
        for round in 0..<3_000 {
            let (left, numbers) = random(&generator)
            let (right, others) = random(&generator)
            #expect(plain(left) == numbers && left.count == UInt64(numbers.count), "round \(round)")
            #expect(left.isEmpty == numbers.isEmpty && left.last == numbers.max() ?? 0)
            for (one, next) in zip(left.ranges, left.ranges.dropFirst()) { #expect(one.upperBound + 1 < next.lowerBound) }
            for number in 0...36 as ClosedRange<UInt64> {
                #expect(left.contains(number) == numbers.contains(number), "round \(round): \(number)")
                #expect(left.first(from: number) == numbers.filter { $0 >= number }.min(), "round \(round): \(number)")
            }
            let edge = UInt64.random(in: 0...36, using: &generator)
            #expect(plain(left.through(edge)) == numbers.filter { $0 <= edge }, "round \(round)")
            #expect(plain(left.from(edge)) == numbers.filter { $0 >= edge }, "round \(round)")
            let rest = left.subtracting(right)
            #expect(plain(rest) == numbers.subtracting(others), "round \(round): \(left.ranges) without \(right.ranges)")
        }
    }
}
