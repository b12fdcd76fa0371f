import TestKit
import Testing

@testable import ViewQuery

@Suite struct Intervals {
    private func random(_ random: inout SeededGenerator) -> IntervalSet {
        IntervalSet(
            (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                let low = UInt64.random(in: 0..<12, using: &random)
                return low...UInt64.random(in: low..<16, using: &random)
            })
    }

    @Test func `sets of intervals behave as sets of numbers`() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let (left, right) = (random(&generator), random(&generator))
            let both = left.intersection(right)
            for number in UInt64(0)..<16 {
                let isInLeft = left.intervals.contains { $0.contains(number) }
                #expect(left.contains(number) == isInLeft)
                #expect(both.contains(number) == (isInLeft && right.contains(number)))
                #expect(left.ceiling(number) == (number..<16).first { left.contains($0) })
                #expect(left.floor(number) == (0...number).last { left.contains($0) })
            }
        }
        #expect(IntervalSet([0...UInt64.max, 5...9]).intervals == [0...UInt64.max])
        #expect(IntervalSet([3...3, 4...5]).intervals == [3...5])
    }

    @Test func `the nearest keys of a box are those that a search through all keys finds`() {
        var generator = SeededGenerator(seed: 4)
        let keys: [[UInt64]] = (UInt64(0)..<4096).map { number in [number / 256, number / 16 % 16, number % 16] }
        for _ in 0..<40 {
            let box = KeyBox(numbers: (0..<3).map { _ in random(&generator) })
            let inside = keys.filter { box.contains($0) }
            for _ in 0..<40 {
                let key = keys[Int.random(in: 0..<4096, using: &generator)]
                #expect(box.ceiling(key) == inside.first { !$0.lexicographicallyPrecedes(key) })
                #expect(box.floor(key) == inside.last { !key.lexicographicallyPrecedes($0) })
            }
        }
    }
}
