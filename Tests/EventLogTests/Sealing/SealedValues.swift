import TestKit
import Testing

@testable import EventLog

/// The small parts of sealed blocks against plain ones.
struct SealedValues {
    @Test func `numbers of a block are held like those of a set, 0 and the highest as well`() {
        var generator = SeededGenerator(seed: 5)
        for round in 0..<300 {
            var (numbers, plain) = (NumberSet(), Set<UInt32>())
            let highest: UInt32 = [1, 15, 16, 17, 40, .max].randomElement(using: &generator) ?? 1
            for _ in 0..<Int.random(in: 0...80, using: &generator) {
                let number = Bool.random(using: &generator) ? highest : UInt32.random(in: 0...highest, using: &generator)
                numbers.insert(number)
                plain.insert(number)
                #expect(numbers.count == plain.count, "round \(round)")
            }
            #expect(numbers.sorted() == plain.sorted(), "round \(round)")
            for number in Array(0...50) + [highest, highest - 1] {
                #expect(numbers.contains(number) == plain.contains(number), "round \(round)")
            }
        }
    }

    @Test func `facts are known up to 1,024 values, and come back from their bytes`() throws {
        var facts = EventFacts(facets: [2, 1, 3])
        for value in 0..<1024 as Range<UInt32> { facts.insert(value << 20 | value, 2) }
        facts.insert(5, 1)
        facts.insert(9, 7)  // not filled here
        #expect(facts.values(2)?.count == 1024 && facts.mayHold(1 << 20 | 1, 2) && !facts.mayHold(2 << 20 | 1, 2))
        #expect(
            facts.values(1) == [5] && facts.values(3) == [] && facts.values(7) == nil && facts.mayHold(9, 7)
                && facts.mayHold(10, 7))
        let bytes = facts.bytes
        let read = try EventFacts(bytes.span.rawBytes)
        for facet in 0...8 as ClosedRange<UInt8> { #expect(read.values(facet) == facts.values(facet), "facet \(facet)") }
        facts.insert(0, 2)
        #expect(facts.values(2)?.count == 1024, "it was there")
        facts.insert(6_000_001, 2)
        #expect(facts.values(2) == nil && facts.mayHold(17, 2) && facts.values(1) == [5])
        facts.makeAllUnknown()
        #expect(facts.mayHold(6, 3))
    }

    /// A run of `count` records with random payloads of up to `largest` bytes.
    private func run(_ generator: inout SeededGenerator, first: UInt64, count: Int, largest: Int = 40) -> RecordRun {
        var run = RecordRun()
        run.begin(at: first)
        for _ in 0..<count {
            let bytes = generator.bytes(RecordHeader.size + Int.random(in: 0...largest, using: &generator))
            run.append(bytes.span.rawBytes)
        }
        return run
    }

    @Test func `records that follow each other in one buffer stay as they are while the first ones leave`() {
        var generator = SeededGenerator(seed: 6)
        func records(_ run: RecordRun) -> [[UInt8]] {
            (0..<run.count).map { place in unsafe run.record(place).withUnsafeBytes { unsafe Array($0) } }
        }
        for round in 0..<200 {
            let count = Int.random(in: 0...12, using: &generator)
            var run = run(&generator, first: UInt64.random(in: 1...1_000, using: &generator), count: count)
            let (all, first) = (records(run), run.first)
            #expect(run.last == first + UInt64(count) - 1 && run.byteCount == all.reduce(0) { $0 + $1.count }, "round \(round)")
            let gone = Int.random(in: 0...count, using: &generator)
            run.removeFirst(gone)
            #expect(records(run) == Array(all[gone...]) && run.first == first + UInt64(gone), "round \(round)")
            let more = generator.bytes(RecordHeader.size + 3)
            run.append(more.span.rawBytes)
            #expect(
                records(run) == Array(all[gone...]) + [more]
                    && run.checksum(run.count - 1) == more.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
        }
    }

    @Test func `the block that was used longest ago leaves the cache, and one that is too large never enters`() {
        var generator = SeededGenerator(seed: 7)
        let blocks = (0..<4).map { run(&generator, first: UInt64($0 * 10 + 1), count: 4, largest: 0) }
        let size = blocks[0].bytes.count + 4 * MemoryLayout<Int>.stride
        #expect(blocks.allSatisfy { $0.bytes.count + 4 * MemoryLayout<Int>.stride == size })
        func key(_ place: Int) -> BlockCache.Key { BlockCache.Key(first: blocks[place].first, checksum: 9) }
        let cache = BlockCache(limit: 3 * size)
        func kept() -> [Int] {
            // Asks in an order that leaves the block with the lowest number the longest unused one.
            (0..<4).filter { cache[key($0)] != nil }
        }
        for place in 0..<3 { cache.insert(blocks[place], key(place)) }
        #expect(kept() == [0, 1, 2])
        _ = cache[key(0)]
        cache.insert(blocks[1], key(1))  // is there
        cache.insert(blocks[3], key(3))
        #expect(kept() == [0, 2, 3])
        #expect(cache[BlockCache.Key(first: blocks[0].first, checksum: 8)] == nil, "a changed block is another one")
        let exact = BlockCache(limit: size)
        exact.insert(blocks[0], key(0))
        #expect(exact[key(0)] != nil)
        exact.insert(blocks[1], key(1))
        #expect(exact[key(0)] == nil && exact[key(1)] != nil)
        let small = BlockCache(limit: size - 1)
        small.insert(blocks[0], key(0))
        #expect(small[key(0)] == nil)
    }

    @Test func `a block is skipped where no arrival or no fact of it fits, at both ends of the times`() throws {
        var generator = SeededGenerator(seed: 8)
        var records = RecordRun()
        records.begin(at: 257)
        for arrival in [2_000, 1_000, 1_500] as [Int64] {
            var bytes = [UInt8](repeating: 0, count: RecordHeader.size) + [UInt8(arrival / 500)]
            for place in 0..<8 { bytes[8 + place] = UInt8(truncatingIfNeeded: arrival >> (8 * Int64(place))) }
            records.append(bytes.span.rawBytes)
        }
        let summariser = EventSummariser(facets: [1]) { _, payload, facts in
            let byte = unsafe payload.withUnsafeBytes { unsafe $0.first }
            facts.insert(UInt32(byte ?? 0), 1)
        }
        let block = try BlockEncoder(summariser: summariser).encode(records, count: 3)
        let value = block.bytes
        func fits(_ from: Int64, _ to: Int64, _ facts: [[EventFact]] = []) -> Bool {
            let times = Timestamp(microseconds: from)...Timestamp(microseconds: to)
            return BlockFilter(arrivals: times, facts: facts).mayFit(value.span.rawBytes, first: 257)
        }
        #expect(fits(0, 1_000) && fits(2_000, 9_000) && fits(1_200, 1_300) && fits(0, 9_000))
        #expect(!fits(0, 999) && !fits(2_001, 9_000))
        #expect(fits(0, 9_000, [[EventFact(1, 2)]]) && fits(0, 9_000, [[EventFact(1, 9), EventFact(1, 3)], [EventFact(1, 4)]]))
        #expect(!fits(0, 9_000, [[EventFact(1, 5)]]) && !fits(0, 9_000, [[EventFact(1, 2)], [EventFact(1, 5)]]))
        let header = BlockHeader(value.span.rawBytes, first: 257)
        #expect(
            header?.last == 259 && header?.count == 3 && header?.arrivals.lowest == 1_000 && header?.arrivals.highest == 2_000)
        // What is damaged may hold anything.
        for place in [20, 50, 57] {
            var bad = value
            bad[place] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
            let filter = BlockFilter(facts: [[EventFact(1, 5)]])
            let mayFit = filter.mayFit(bad.span.rawBytes, first: 257)
            #expect(mayFit, "byte \(place)")
        }
    }
}
