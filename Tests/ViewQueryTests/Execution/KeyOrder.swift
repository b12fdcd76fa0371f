import Testing

@testable import ViewQuery

/// Keys, whose bytes are in the order of what they stand for.
struct KeyOrder {
    private func key(_ value: some IndexValue) -> [UInt8] {
        var bytes: [UInt8] = []
        value.appendIndexBytes(to: &bytes)
        return bytes
    }

    /// Each number against the next one: all at which the upper or the lower half of the bits turns over, below and above zero.
    @Test func `S15: keys of Int32 are in the order of the numbers, and coordinates are such numbers`() throws {
        func expectNext(_ number: Int32) {
            guard number < .max, !key(number).lexicographicallyPrecedes(key(number + 1)) else { return }
            Issue.record("\(number) does not come before \(number + 1)")
        }
        for half in Int32(Int16.min)...Int32(Int16.max) {
            expectNext(half << 16 | 0xffff)
            for upper in [Int32(Int16.min), -1, 0, 1, Int32(Int16.max)] { expectNext(upper << 16 | half & 0xffff) }
        }
        let degrees: [Int32] = [.min, -1_800_000_000, -900_000_000, -1, 0, 1, 900_000_000, 1_800_000_000, .max]
        #expect(degrees.map(key).sorted { $0.lexicographicallyPrecedes($1) } == degrees.map(key))
        #expect(Set(degrees.map { key($0).count }) == [4])
    }
}
