import EventLog
import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Indexes follow rows that are stored, changed and taken away, through flushes, failures, restarts and other declarations.
@Suite struct IndexUpkeep {
    private static let recipe = Recipe(view: "samples", version: 1, policy: "", keyring: "")

    private func open(_ path: String, _ indexes: [IndexedTable] = Sample.indexedTables, sizeLimit: Int? = nil) throws -> ViewStore
    {
        try ViewStore.open(
            at: path, recipe: Self.recipe, tables: [Sample.table], indexes: indexes, access: .readWrite, sizeLimit: sizeLimit)
    }

    private func isSound(_ store: ViewStore) throws -> Bool {
        let indexed = try #require(Sample.indexedTables.first)
        return try store.isIndexed(indexed, in: store.environment.beginRead()) && store.fault(of: indexed) == nil
    }

    private func check(_ store: ViewStore, _ rows: [[UInt8]: Sample], _ random: inout SeededGenerator, _ seed: UInt64) throws {
        let all = rows.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        let (name, predicate) = try #require(IndexQueries.all(&random).randomElement(using: &random))
        let order = try #require(IndexQueries.orders.randomElement(using: &random))
        let wanted = IndexQueries.sorted(try all.filter { try predicate.evaluate($0) }, order)
        let run = try QueryRun(FetchDescriptor(predicate: predicate, sortBy: order))
        #expect(try run.rows(in: store) == wanted, "\(name), seed \(seed), \(run.explanation)")
    }

    @Test(arguments: UInt64(1)...6)
    func `K11 G14: after any flushes, evictions and restarts each index is that of the rows`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path + "/samples"
        var (rows, next) = ([[UInt8]: Sample](), UInt64(1))
        for round in 0..<12 {
            // Now and then a program that knows no indexes, or others, writes.
            let knowsIndexes = round < 2 || Int.random(in: 0..<4, using: &random) > 0
            let store = try open(path, knowsIndexes ? Sample.indexedTables : [])
            let projector = try Projector(KeptRows<Sample>(), store: store)
            if Bool.random(using: &random) { await projector.recordChanges(keeping: 50) {} }
            if knowsIndexes {
                try await projector.flush(.request)
                #expect(try isSound(store), "seed \(seed), round \(round)")
            }
            for _ in 0..<Int.random(in: 0..<5, using: &random) {
                let changes = (0..<Int.random(in: 1..<40, using: &random)).map { _ in
                    (
                        Sample.random(
                            [0, 1, 2].randomElement(using: &random) ?? 0, .random(in: 0..<40, using: &random), &random),
                        Int.random(in: 0..<3, using: &random) == 0
                    )
                }
                for (row, isGone) in changes { rows[row.key] = isGone ? nil : row }
                try await projector.fold(KeptRows<Sample>.Batch(first: next, changes), isCatchingUp: Bool.random(using: &random))
                next += UInt64(changes.count)
                if Bool.random(using: &random) { continue }
                try await projector.flush(.request)
                if knowsIndexes { #expect(try isSound(store), "seed \(seed), round \(round)") }
                try check(store, rows, &random, seed)
            }
            try await projector.flush(.close)
            try check(store, rows, &random, seed)
            store.close()
        }
    }

    @Test(arguments: UInt64(1)...4)
    func `long lists of postings are those of the rows while rows come, go and change`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let store = try open(folder.path + "/samples")
        defer { store.close() }
        let projector = try Projector(KeptRows<Sample>(), store: store)
        var (kept, next, sequence) = ([UInt64](), UInt64(0), UInt64(1))
        for round in 0..<14 {
            var changes: [(Sample, Bool)] = []
            for _ in 0..<Int.random(in: 1..<900, using: &random) {
                changes.append((Sample.random(1, next, &random), false))
                kept.append(next)
                next += .random(in: 1..<3, using: &random)
            }
            let gone = min(kept.count, round % 3 == 0 ? 0 : .random(in: 0..<900, using: &random))
            for number in kept.prefix(gone) { changes.append((Sample.random(1, number, &random), true)) }
            kept.removeFirst(gone)
            for number in kept.shuffled(using: &random).prefix(Int.random(in: 0..<200, using: &random)) {
                changes.append((Sample.random(1, number, &random), Bool.random(using: &random)))
                if changes[changes.count - 1].1 { kept.removeAll { $0 == number } }
            }
            try await projector.fold(KeptRows<Sample>.Batch(first: sequence, changes), isCatchingUp: false)
            sequence += UInt64(changes.count)
            try await projector.flush(.request)
            #expect(try isSound(store), "seed \(seed), round \(round)")
        }
    }

    @Test(arguments: [1_000, 20_000])
    func `indexes whose entries are sorted in parts are those of the rows`(sortLimit: Int) async throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 11)
        var store = try open(folder.path + "/samples", [])
        let projector = try Projector(KeptRows<Sample>(), store: store)
        let changes = (UInt64(0)..<600).map { (Sample.random(UInt32($0 % 3), $0, &random), false) }
        try await projector.fold(KeptRows<Sample>.Batch(first: 1, changes), isCatchingUp: false)
        try await projector.flush(.close)
        store.close()
        store = try open(folder.path + "/samples")
        defer { store.close() }
        try store.buildMissingIndexes(sortLimit: sortLimit)
        #expect(try isSound(store))
    }

    @Test func `K11: an index that another program has not kept is not used, and rebuilt`() async throws {
        let folder = try TemporaryFolder()
        let store = try open(folder.path + "/samples")
        defer { store.close() }
        let projector = try Projector(KeptRows<Sample>(), store: store)
        var random = SeededGenerator(seed: 9)
        let changes = (UInt64(0)..<30).map { (Sample.random(1, $0, &random), false) }
        try await projector.fold(KeptRows<Sample>.Batch(first: 1, changes), isCatchingUp: false)
        try await projector.flush(.close)
        #expect(try isSound(store))
        let (rows, meta) = try (store.environment.table(Sample.table), store.environment.table("meta"))
        try store.environment.write { transaction throws(StorageError) in
            try transaction.delete(rows, key: changes[0].0.key.rawSpan)
            try transaction.put(
                meta, key: Array("checkpoint".utf8).rawSpan, value: (bigEndian(UInt64(31)) + bigEndian(UInt64(0))).rawSpan)
        }
        let indexed = try #require(Sample.indexedTables.first)
        #expect(try !store.isIndexed(indexed, in: store.environment.beginRead()))
        let newest = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.time, order: .reverse)])
        #expect(try QueryRun(newest).rows(in: store).count == 29)
        try store.buildMissingIndexes()
        #expect(try isSound(store))
    }

    @Test func `a view that is rebuilt is indexed at its end, and until then it is read row by row`() async throws {
        let folder = try TemporaryFolder()
        let store = try open(folder.path + "/samples")
        defer { store.close() }
        let projector = try Projector(KeptRows<Sample>(), store: store, policy: FlushPolicy(pendingBytesLimit: 1))
        var random = SeededGenerator(seed: 7)
        let changes = (UInt64(0)..<30).map { (Sample.random(1, $0, &random), false) }
        try await projector.fold(KeptRows<Sample>.Batch(first: 1, changes), isCatchingUp: true)
        let indexed = try #require(Sample.indexedTables.first)
        #expect(try !store.isIndexed(indexed, in: store.environment.beginRead()))
        var descriptor = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 3)
        let wanted = try QueryRun(descriptor).rows(in: store)
        #expect(wanted.count == 3)
        descriptor.requiresIndex = true
        let refusal = #expect(throws: QueryError.self) { _ = try QueryRun(descriptor).rows(in: store) }
        #expect(refusal?.code == .needsScan)
        try await projector.flush(.request)
        #expect(try isSound(store))
        #expect(try QueryRun(descriptor).rows(in: store) == wanted)
    }

    @Test func `a burst that changes most rows leaves the index to its end, one that changes few rows keeps it`() async throws {
        let folder = try TemporaryFolder()
        let store = try open(folder.path + "/samples")
        defer { store.close() }
        let projector = try Projector(KeptRows<Sample>(), store: store, policy: FlushPolicy(pendingBytesLimit: 1))
        var random = SeededGenerator(seed: 12)
        var next: UInt64 = 0
        func fold(_ count: Int, isCatchingUp: Bool) async throws {
            let changes = (next..<next + UInt64(count)).map { (Sample.random(1, $0, &random), false) }
            try await projector.fold(KeptRows<Sample>.Batch(first: next + 1, changes), isCatchingUp: isCatchingUp)
            next += UInt64(count)
        }
        let indexed = try #require(Sample.indexedTables.first)
        func isIndexed() throws -> Bool { try store.isIndexed(indexed, in: store.environment.beginRead()) }
        try await fold(100, isCatchingUp: false)
        #expect(try isIndexed())
        try await fold(ViewStore.leastLeftToBuild - 1, isCatchingUp: true)
        #expect(try isIndexed() && isSound(store))
        try await fold(2 * ViewStore.leastLeftToBuild, isCatchingUp: true)
        #expect(try !isIndexed())
        try await fold(1, isCatchingUp: true)
        try await projector.flush(.request)
        #expect(try isIndexed() && isSound(store))
        try await fold(ViewStore.leastLeftToBuild, isCatchingUp: true)
        #expect(try isIndexed() && isSound(store))
    }

    @Test func `a commit that fails leaves rows and index as they were`() async throws {
        let folder = try TemporaryFolder()
        let store = try open(folder.path + "/samples", sizeLimit: 700_000)
        defer { store.close() }
        let projector = try Projector(KeptRows<Sample>(), store: store)
        var random = SeededGenerator(seed: 8)
        try await projector.fold(
            KeptRows<Sample>.Batch(first: 1, (UInt64(0)..<20).map { (Sample.random(1, $0, &random), false) }), isCatchingUp: false
        )
        try await projector.flush(.request)
        #expect(try isSound(store))
        try await projector.fold(
            KeptRows<Sample>.Batch(first: 21, (UInt64(0)..<2_000).map { (Sample.random(2, $0, &random), false) }),
            isCatchingUp: true)
        await #expect(throws: StorageError.self) { try await projector.flush(.request) }
        #expect(try isSound(store))
        try store.environment.setSizeLimit(50_000_000)
        try await projector.flush(.request)
        #expect(try isSound(store))
    }

    @Test func `an entry without its row is reported, by a query and by a check`() throws {
        var random = SeededGenerator(seed: 9)
        let folder = try TemporaryFolder()
        let rows = Sample.random(30, &random)
        let store = try Sample.store(folder, rows)
        defer { store.close() }
        #expect(try isSound(store))
        let lost = try #require(rows.first)
        try store.environment.write { (transaction) throws(StorageError) in
            _ = try transaction.delete(store.table(Sample.table), key: lost.key.rawSpan)
        }
        let (fault, time) = (try store.fault(of: Sample.indexedTables[0]), lost.time)
        #expect(fault?.contains("index samples.time") == true)
        let error = #expect(throws: QueryError.self) {
            _ = try QueryRun(FetchDescriptor<Sample>(predicate: #Predicate { $0.time == time })).rows(in: store)
        }
        #expect(error?.code == .malformedRow)
    }
}
