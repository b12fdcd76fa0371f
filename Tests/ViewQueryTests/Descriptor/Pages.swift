import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Pages by cursor give, one after the other, what one query gives.
@Suite struct Pages {
    private static let orders: [[SortDescriptor<Sample>]] = [
        [], [SortDescriptor(\.time)], [SortDescriptor(\.time, order: .reverse)], [SortDescriptor(\.heat, order: .reverse)],
        [SortDescriptor(\.level), SortDescriptor(\.time)], [SortDescriptor(\.level), SortDescriptor(\.time, order: .reverse)],
        [SortDescriptor(\.snr, order: .reverse), SortDescriptor(\.level)],
        [SortDescriptor(\.node, order: .reverse), SortDescriptor(\.time)], [SortDescriptor(\.sequence, order: .reverse)],
    ]

    @Test(arguments: UInt64(1)...3)
    func `K18 S8 G31: pages by cursor are together the rows of one query, and each tells the total`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let rows = Sample.random(Int.random(in: 1..<150, using: &random), &random)
        let store = try Sample.store(folder, rows, isIndexed: !seed.isMultiple(of: 3))
        defer { store.close() }
        for order in Self.orders {
            for (name, predicate) in IndexQueries.all(&random) {
                var descriptor = FetchDescriptor(predicate: predicate, sortBy: order)
                let wanted = IndexQueries.sorted(try rows.filter { try predicate.evaluate($0) }, order)
                descriptor.fetchLimit = Int.random(in: 12..<60, using: &random)
                var found: [Sample] = []
                repeat {
                    let page = try QueryRun(descriptor).page(in: store)
                    #expect(page.total == wanted.count && page.rows.count <= descriptor.fetchLimit ?? 0, "\(name), seed \(seed)")
                    #expect(try QueryRun(descriptor).rows(in: store) == page.rows, "\(name), seed \(seed)")
                    found += page.rows
                    // As text, as it is kept between restarts.
                    descriptor.after = page.next.flatMap { QueryCursor($0.description) }
                    #expect((descriptor.after == nil) == (page.next == nil))
                } while descriptor.after != nil && found.count <= wanted.count
                let explanation = try QueryRun(descriptor).explanation
                #expect(found == wanted, "\(name), seed \(seed), \(explanation)")
            }
        }
    }

    @Test func `S8: rows that come and go between two pages shift no other row, and within a page count and rows agree`() throws {
        var random = SeededGenerator(seed: 5)
        let folder = try TemporaryFolder()
        let rows = Sample.random(120, &random)
        let store = try Sample.store(folder, rows)
        defer { store.close() }
        var descriptor = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 30)
        let first = try QueryRun(descriptor).page(in: store)
        let transaction = try store.environment.beginRead()
        let gone = try #require(first.rows.last)
        try store.environment.write { (transaction) throws(StorageError) in
            for row in [gone, first.rows[0]] { _ = try transaction.delete(store.table(Sample.table), key: row.key.rawSpan) }
            var new = Sample(node: 1, sequence: 900)
            new.time = 40
            try transaction.put(store.table(Sample.table), key: new.key.rawSpan, value: new.value.rawSpan)
            try transaction.removeAll(store.table("meta"))  // a writer that knows no indexes
        }
        try store.buildMissingIndexes()
        descriptor.after = first.next
        let second = try QueryRun(descriptor).page(in: store)
        let all = IndexQueries.sorted(rows, descriptor.sortBy)
        #expect(second.rows == Array(all[30..<60]) && second.total == rows.count - 1)
        let before = try QueryRun(descriptor).page(in: store, transaction)
        #expect(before.rows == second.rows && before.total == rows.count)
    }

    @Test func `K18 S9: a page reads no more than its rows, and a range of an index no row that it does not give`() throws {
        var random = SeededGenerator(seed: 6)
        let folder = try TemporaryFolder()
        let rows = (UInt64(0)..<2_000).map { Sample.random(UInt32($0 % 7), $0, &random) }
        let store = try Sample.store(folder, rows)
        defer { store.close() }
        var newest = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 50)
        let page = try QueryRun(newest).page(in: store)
        #expect(page.rows.count == 50 && page.cost.rows == 50 && page.cost.keys == 51 && page.total == 2_000)
        newest.predicate = #Predicate { $0.level == 1 && $0.time >= 10 }
        newest.fetchLimit = nil
        let some = try QueryRun(newest).page(in: store)
        #expect(some.rows.count > 50 && some.cost.rows == some.rows.count && some.total == some.rows.count)
    }

    @Test func `S10: a filter that is asked of more rows than the query allows tells so, and why`() throws {
        var random = SeededGenerator(seed: 7)
        let folder = try TemporaryFolder()
        let rows = Sample.random(150, &random)
        let store = try Sample.store(folder, rows)
        defer { store.close() }
        var descriptor = FetchDescriptor<Sample>(predicate: #Predicate { $0.list.contains(2) && $0.time >= 0 })
        descriptor.filterLimit = FilterLimit(40, reason: "lists are not indexed")
        let page = try QueryRun(descriptor).page(in: store)
        #expect(page.truncated == "lists are not indexed" && page.total == nil && page.cost.rows == 40)
        let error = #expect(throws: QueryError.self) { _ = try QueryRun(descriptor).rows(in: store) }
        #expect(error?.code == .filterLimit)
        // Where only counting all rows takes more, the page is complete.
        var few = FetchDescriptor<Sample>(predicate: #Predicate { $0.list.count >= 0 && $0.time >= 0 }, fetchLimit: 10)
        few.filterLimit = descriptor.filterLimit
        let start = try QueryRun(few).page(in: store)
        #expect(start.rows.count == 10 && start.truncated == nil && start.total == nil)
        descriptor.filterLimit?.rows = 1_000
        #expect(try QueryRun(descriptor).page(in: store).truncated == nil)
        #expect(try QueryRun(descriptor).rows(in: store).count == rows.count { $0.list.contains(2) })
    }

    @Test func `a cursor of another order or of no order is refused`() throws {
        var random = SeededGenerator(seed: 8)
        let folder = try TemporaryFolder()
        let store = try Sample.store(folder, Sample.random(50, &random))
        defer { store.close() }
        var descriptor = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.time)], fetchLimit: 3)
        let cursor = try QueryRun(descriptor).page(in: store).next
        descriptor.after = cursor
        descriptor.sortBy = [SortDescriptor(\.time, order: .reverse)]
        let other = #expect(throws: QueryError.self) { _ = try QueryRun(descriptor).page(in: store) }
        #expect(other?.code == .otherCursor)
        descriptor.sortBy = [SortDescriptor(\.name)]
        let text = #expect(throws: QueryError.self) { _ = try QueryRun(descriptor).page(in: store) }
        #expect(text?.code == .unsupported)
        #expect(QueryCursor("") == nil && QueryCursor("AQ") == nil && QueryCursor("no cursor") == nil)
        let coded = try JSONDecoder().decode([QueryCursor].self, from: JSONEncoder().encode([#require(cursor)]))
        #expect(coded == [cursor])
        #expect(throws: DecodingError.self) { _ = try JSONDecoder().decode([QueryCursor].self, from: Data(#"["x"]"#.utf8)) }
    }
}
