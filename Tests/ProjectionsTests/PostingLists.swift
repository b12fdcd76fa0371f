import ProtobufWire
import TestKit
import Testing

@testable import Projections

/// Lists of postings that are changed as bytes, against plain dictionaries.
struct PostingLists {
    private func bytes(_ postings: [Posting], storesFrequencies: Bool) -> (first: UInt64, bytes: [UInt8]) {
        var list = PostingList(storesFrequencies: storesFrequencies)
        for posting in postings { list.append(posting) }
        return (list.first, list.bytes)
    }

    @Test func `a key's row is its last eight bytes, or all of a shorter one`() {
        #expect(TextIndex.row(of: ([0x81, 2, 3, 4] as [UInt8]).rawSpan) == 0x8102_0304)
        #expect(TextIndex.row(of: ([9, 0x81, 2, 3, 4, 5, 6, 7, 8] as [UInt8]).rawSpan) == 0x8102_0304_0506_0708)
    }

    @Test(arguments: UInt64(1)...40)
    func `a changed list is that of the changed postings, and what is only added can be taken alone`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let storesFrequencies = seed % 2 == 0
        func posting(_ row: UInt64) -> Posting {
            guard storesFrequencies else { return Posting(row: row, count: 1, length: 1) }
            let count: UInt32 = [1, 1, 1, 2, 300, .max].randomElement(using: &random) ?? 1
            return Posting(row: row, count: count, length: [1, 7, 200, .max].randomElement(using: &random) ?? 1)
        }
        var merge = PostingListMerge(storesFrequencies: storesFrequencies)
        for round in 0..<60 {
            // Rows lie close, far apart, and at both ends of what is possible.
            let rows = (0..<Int.random(in: 0..<80, using: &random)).map { _ in
                Bool.random(using: &random) ? UInt64.random(in: 0..<200, using: &random) : .random(in: 0 ... .max, using: &random)
            }
            let old = Set(rows).sorted().map(posting)
            let isAddition = round % 3 == 0
            var wanted = Dictionary(uniqueKeysWithValues: old.map { ($0.row, $0) })
            var changes: [UInt64: Posting] = [:]
            for _ in 0..<Int.random(in: 1..<40, using: &random) {
                let above = (old.last?.row ?? 0).addingReportingOverflow(.random(in: 1..<300, using: &random))
                let row = isAddition ? (above.overflow ? .max : above.partialValue) : rows.randomElement(using: &random) ?? 7
                let isGone = !isAddition && Bool.random(using: &random)
                changes[row] = isGone ? Posting(row: row, count: 0, length: 0) : posting(row)
            }
            for change in changes.values { wanted[change.row] = change.count > 0 ? change : nil }
            let stored = bytes(old, storesFrequencies: storesFrequencies)
            merge.begin(stored.bytes.rawSpan, after: old.first?.row ?? 5)
            for change in changes.values.sorted(by: { $0.row < $1.row }) { merge.change(change) }
            merge.finish()
            let expected = wanted.values.sorted { $0.row < $1.row }
            #expect(merge.postings() == expected, "seed \(seed), round \(round)")
            #expect(merge.bytes == bytes(expected, storesFrequencies: storesFrequencies).bytes, "seed \(seed), round \(round)")
            if isAddition, let last = old.last, last.row < .max {
                #expect(merge.added() == expected.filter { $0.row > last.row }, "seed \(seed), round \(round)")
            } else if expected.first?.row != old.first?.row || expected.count < old.count {
                #expect(merge.added() == nil, "seed \(seed), round \(round)")
            }
        }
    }

    @Test func `a damaged list is read up to its damage`() {
        let old = (0..<20).map { Posting(row: 1_000 + $0, count: 1, length: 3) }
        let stored = bytes(old, storesFrequencies: true)
        for cut in 0..<stored.bytes.count {
            var merge = PostingListMerge(storesFrequencies: true)
            let damaged = stored.bytes[..<cut] + [0x80]
            unsafe merge.begin(damaged.span.bytes, after: 1_000)
            merge.change(Posting(row: 5_000, count: 1, length: 1))
            merge.finish()
            #expect(merge.postings() == old.prefix(cut / 2) + [Posting(row: 5_000, count: 1, length: 1)])
        }
    }
}
