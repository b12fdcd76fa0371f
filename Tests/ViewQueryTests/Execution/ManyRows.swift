import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing

@testable import ViewQuery

/// Rows that an index names by the thousand, which are read on all cores.
@Suite struct ManyRows {
    private let rows: [Sample]
    private let folder: TemporaryFolder

    init() throws {
        var random = SeededGenerator(seed: 71)
        rows = (0..<9_000).map { Sample.random(UInt32($0 % 7), UInt64($0), &random) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        folder = try TemporaryFolder()
    }

    @Test func `G6 K11: thousands of rows by an index come in its order, with filter, limit and offset`() throws {
        let store = try Sample.store(folder, rows)
        defer { store.close() }
        let predicates: [(String, Predicate<Sample>)] = [
            ("all", #Predicate { _ in true }), ("half of them", #Predicate { $0.time >= 15 }),
            ("filtered", #Predicate { $0.time >= 3 && $0.list.contains(2) }),
            ("two ranges", #Predicate { $0.time < 5 || $0.time > 20 }),
        ]
        for (name, predicate) in predicates {
            for order in [SortOrder.forward, .reverse] {
                let sortBy = [SortDescriptor(\Sample.time, order: order)]
                let wanted = IndexQueries.sorted(try rows.filter { try predicate.evaluate($0) }, sortBy)
                for (limit, offset) in [(nil, 0), (nil, 1_234), (4_096, 3), (300, 0), (257, 5_000), (64, 64), (1, 8_999)] {
                    var descriptor = FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit)
                    descriptor.fetchOffset = offset
                    let page = Array(wanted.dropFirst(offset).prefix(limit ?? .max))
                    #expect(
                        try QueryRun(descriptor).rows(in: store) == page, "\(name), \(order), \(limit ?? -1) from \(offset)")
                }
            }
        }
    }

    @Test func `they are read as of the caller's snapshot, whatever is committed meanwhile`() throws {
        let store = try Sample.store(folder, rows)
        defer { store.close() }
        let run = try QueryRun(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.time)]))
        let before = try store.environment.beginRead()
        try store.environment.write { (transaction) throws(StorageError) in
            for var row in rows {
                row.isOn.toggle()
                try transaction.put(store.table(Sample.table), key: row.key.rawSpan, value: row.value.rawSpan)
            }
        }
        #expect(try run.rows(in: store, before) == IndexQueries.sorted(rows, run.descriptor.sortBy))
        let changed = try run.rows(in: store)
        #expect(changed.count == rows.count && !rows.contains { $0 == changed[0] })
    }

    @Test func `a row that cannot be read ends the query with one error that names the view`() throws {
        let store = try Sample.store(folder, rows)
        defer { store.close() }
        try store.environment.write { (transaction) throws(StorageError) in
            try transaction.put(store.table(Sample.table), key: rows[5_000].key.rawSpan, value: [1].rawSpan)
        }
        let error = #expect(throws: QueryError.self) {
            try QueryRun(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.time)])).rows(in: store)
        }
        #expect(
            error?.code == .malformedRow && "\(String(describing: error))".contains("samples"), "\(String(describing: error))")
    }
}
