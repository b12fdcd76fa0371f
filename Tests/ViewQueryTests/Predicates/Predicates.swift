import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Every operator gives the rows that Foundation's own evaluation gives, read by key ranges or not, in any order, with any limit.
@Suite struct Predicates {
    /// Predicates of every form over random values. They are small, since the compiler takes long to check large ones.
    static func all(_ random: inout SeededGenerator) -> [(String, Predicate<Sight>)] {
        let node = [UInt32(0), 1, 2, 50, 77, .max - 1, .max].randomElement(using: &random) ?? 0
        let other = [UInt32(0), 1, 2, 50, 77, .max].randomElement(using: &random) ?? 0
        let time = [UInt64(0), 7, 20, .max - 2, .max].randomElement(using: &random) ?? 0
        let later = max(time, UInt64.random(in: 0...60, using: &random))
        let kind = Sight.Kind.allCases.randomElement(using: &random) ?? .fox
        let height = Int32.random(in: -3...3, using: &random)
        let part = ["", "a", "ab", "Berg", "z"].randomElement(using: &random) ?? ""
        let nodes = [node, other]
        return [
            ("equal", #Predicate { $0.node == node }),
            ("swapped", #Predicate { node == $0.node }),
            ("not equal", #Predicate { $0.node != node }),
            ("less", #Predicate { $0.node < node }),
            ("less, swapped", #Predicate { node <= $0.node }),
            ("greater", #Predicate { $0.time > time }),
            ("at least", #Predicate { $0.time >= time }),
            ("prefix and range", #Predicate { $0.node == node && $0.kind == kind && $0.time >= time && $0.time < later }),
            ("gap in the key", #Predicate { $0.node == node && $0.time <= time }),
            ("only the last number", #Predicate { $0.time == time }),
            ("kind", #Predicate { $0.kind == kind }),
            ("other kinds", #Predicate { $0.kind != kind && $0.node == node }),
            ("or", #Predicate { $0.node == node || $0.node == other }),
            ("or over numbers", #Predicate { $0.node == node || $0.time == time }),
            ("or with a value", #Predicate { $0.node == node || $0.name == part }),
            ("nested", #Predicate { ($0.node == node || $0.node == other) && ($0.time < time || $0.kind == kind) }),
            ("negation", #Predicate { !($0.node == node) }),
            ("contained", #Predicate { nodes.contains($0.node) }),
            ("closed range", #Predicate { (time...later).contains($0.time) }),
            ("range", #Predicate { (time..<later).contains($0.time) && $0.node == node }),
            ("impossible", #Predicate { $0.node < node && $0.node > node }),
            ("optional", #Predicate { $0.height == height }),
            ("nil", #Predicate { $0.height == nil && $0.node != node }),
            ("coalesced", #Predicate { ($0.height ?? 0) > height }),
            ("unwrapped", #Predicate { $0.height != nil && $0.height! <= height }),
            ("text contains", #Predicate { $0.name.contains(part) }),
            ("text starts", #Predicate { $0.name.starts(with: part) && $0.node >= node }),
            ("conditional", #Predicate { $0.node == node ? $0.time < time : $0.height == nil }),
            ("computed", #Predicate { $0.name.isEmpty }),
            ("always", #Predicate { _ in true }),
        ]
    }

    @Test(arguments: UInt64(1)...12) func `every operator gives what Foundation's evaluation gives`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let rows = Sight.random(Int.random(in: 0..<300, using: &random), &random)
        let store = try Sight.store(folder, rows)
        defer { store.close() }
        for _ in 0..<8 {
            for (name, predicate) in Self.all(&random) {
                let wanted = try rows.filter { try predicate.evaluate($0) }
                var descriptor = FetchDescriptor(predicate: predicate)
                #expect(try QueryRun(descriptor).rows(in: store) == wanted, "\(name), seed \(seed)")
                #expect(try QueryRun(descriptor).count(in: store) == wanted.count, "\(name), seed \(seed)")
                descriptor.sortBy = try #require(Self.orders.randomElement(using: &random))
                descriptor.fetchLimit = Bool.random(using: &random) ? Int.random(in: 0..<20, using: &random) : nil
                descriptor.fetchOffset = Int.random(in: 0..<4, using: &random)
                let sorted = wanted.sorted(using: descriptor.sortBy).dropFirst(descriptor.fetchOffset)
                    .prefix(descriptor.fetchLimit ?? .max)
                #expect(try QueryRun(descriptor).rows(in: store) == Array(sorted), "\(name), sorted, seed \(seed)")
                #expect(try QueryRun(descriptor).count(in: store) == sorted.count, "\(name), sorted, seed \(seed)")
            }
        }
    }

    /// Each of them says the place of every row, so that there is one answer.
    static let orders: [[SortDescriptor<Sight>]] = [
        [SortDescriptor(\.node), SortDescriptor(\.kind.rawValue), SortDescriptor(\.time)],
        [SortDescriptor(\.time, order: .reverse), SortDescriptor(\.kind.rawValue), SortDescriptor(\.node)],
        [
            SortDescriptor(\.name), SortDescriptor(\.node, order: .reverse), SortDescriptor(\.time),
            SortDescriptor(\.kind.rawValue),
        ],
    ]

    @Test func `what a query costs is reported, and a scan is refused where an index is required`() throws {
        let node: UInt32 = 7
        let time: UInt64 = 9
        let kind = Sight.Kind.fox
        func explain(_ predicate: Predicate<Sight>?, _ order: [SortDescriptor<Sight>] = []) throws -> QueryExplanation {
            try QueryRun(FetchDescriptor(predicate: predicate, sortBy: order)).explanation
        }
        let track = try explain(
            #Predicate { $0.node == node && $0.kind == kind && $0.time > time }, [SortDescriptor(\.time, order: .reverse)])
        #expect(track.access == .ranges && track.bounded == ["node", "kind", "time"] && !track.isFiltered && !track.isSorted)
        let late = try explain(#Predicate { $0.time > time && $0.name == "x" }, [SortDescriptor(\.name)])
        #expect(late.access == .skippingScan && late.bounded == ["time"] && late.isFiltered && late.isSorted)
        let named = try explain(#Predicate { $0.name == "x" })
        #expect(named.access == .scan && named.isFiltered && !named.isSorted)
        #expect("\(named)" == "every row of sights; filter: each row; sort: none")
        #expect("\(late)" == "rows of sights by seeks over the keys: time; filter: each row; sort: after reading")

        var descriptor = FetchDescriptor<Sight>(predicate: #Predicate { $0.name == "x" })
        descriptor.requiresIndex = true
        let error = #expect(throws: QueryError.self) { _ = try QueryRun(descriptor) }
        #expect(error?.code == .needsScan && error?.description.contains("node, kind, time") == true)
    }

    @Test func `a predicate that has no value for a row is refused in words`() throws {
        let folder = try TemporaryFolder()
        let store = try Sight.store(folder, [Sight(node: 1, kind: .fox, time: 1)])
        defer { store.close() }
        let missing = #expect(throws: QueryError.self) {
            _ = try QueryRun(FetchDescriptor<Sight>(predicate: #Predicate { $0.height! > 1 })).rows(in: store)
        }
        #expect(missing?.code == .noValue)
        let (low, high) = (UInt64(9), UInt64(3))
        let early = #expect(throws: QueryError.self) {
            _ = try QueryRun(FetchDescriptor<Sight>(predicate: #Predicate { (low...high).contains($0.time) })).rows(in: store)
        }
        #expect(early?.code == .noValue)
    }

    @Test func `a row that cannot be read is reported, not skipped`() throws {
        let folder = try TemporaryFolder()
        let store = try Sight.store(folder, [Sight(node: 1, kind: .fox, time: 1)])
        defer { store.close() }
        try store.environment.write { (transaction) throws(StorageError) in
            try transaction.put(store.table(Sight.table), key: [9, 9].rawSpan, value: [1].rawSpan)
        }
        let node: UInt32 = 1
        for predicate in [nil, #Predicate<Sight> { $0.node >= node }] {
            let error = #expect(throws: QueryError.self) {
                _ = try QueryRun(FetchDescriptor(predicate: predicate)).rows(in: store)
            }
            #expect(error?.code == .malformedRow)
        }
    }
}
