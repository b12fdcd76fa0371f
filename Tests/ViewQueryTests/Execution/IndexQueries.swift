import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Queries that indexes answer give what a closure over all rows gives.
@Suite struct IndexQueries {
    static func all(_ random: inout SeededGenerator) -> [(String, Predicate<Sample>)] {
        let node = [UInt32(0), 1, 2, 5, .max].randomElement(using: &random) ?? 0
        let time = UInt32.random(in: 0..<31, using: &random)
        let later = time + UInt32.random(in: 0..<12, using: &random)
        let level = [Int16.min, -3, -2, 0, 1, .max].randomElement(using: &random) ?? 0
        let heat = Sample.numbers.randomElement(using: &random) ?? 0
        let snr = Float(Int.random(in: -3...3, using: &random)) / 2
        let name = Sample.names.randomElement(using: &random) ?? ""
        let kind = Sample.Kind.allCases.randomElement(using: &random) ?? .red
        let (names, times) = ([name, "a", "nobody"], [time, later, 3])
        let kinds = [kind, .blue]
        let optionals: [Double?] = [nil, heat]
        let nan = Double.nan
        return [
            ("time", #Predicate { $0.time == time }),
            ("times", #Predicate { $0.time >= time && $0.time < later }),
            ("level and times", #Predicate { $0.level == level && $0.time > time }),
            ("below", #Predicate { $0.level < level }),
            ("level, not", #Predicate { $0.level != level && $0.time == time }),
            ("heat", #Predicate { $0.heat == heat }),
            ("no heat", #Predicate { $0.heat == nil }),
            ("heats", #Predicate { optionals.contains($0.heat) }),
            ("not a number", #Predicate { $0.heat == nan }),
            ("snr", #Predicate { $0.snr <= snr }),
            ("snr and level", #Predicate { $0.snr == snr && $0.level >= level }),
            ("name", #Predicate { $0.name == name }),
            ("names", #Predicate { names.contains($0.name) }),
            ("alias", #Predicate { $0.alias == name }),
            ("alias and switch", #Predicate { $0.alias == nil && $0.isOn == true }),
            ("kind and time", #Predicate { $0.kind == kind && $0.time <= time }),
            ("kinds", #Predicate { kinds.contains($0.kind) && times.contains($0.time) }),
            ("switch", #Predicate { $0.isOn == false && $0.kind == kind }),
            ("index and key", #Predicate { $0.time == time && $0.node == node }),
            ("key", #Predicate { $0.node == node && $0.time == time }),
            ("sequence", #Predicate { $0.sequence == 7 }),
            ("or of indexes", #Predicate { $0.time == time || $0.name == name }),
            ("or with key", #Predicate { $0.node == node || $0.level == level }),
            ("or in and", #Predicate { ($0.name == name || $0.heat == heat) && $0.time != time }),
            ("three", #Predicate { $0.name == name || $0.alias == name || $0.kind == kind }),
            ("or without index", #Predicate { $0.name == name || $0.list.isEmpty }),
            ("range", #Predicate { (time...later).contains($0.time) }),
            ("not indexed", #Predicate { $0.list.contains(2) && $0.time >= time }),
            ("impossible", #Predicate { $0.time > later && $0.time < time }),
            ("all", #Predicate { _ in true }),
        ]
    }

    static let orders: [[SortDescriptor<Sample>]] = [
        [], [SortDescriptor(\.time)], [SortDescriptor(\.time, order: .reverse)],
        [SortDescriptor(\.level), SortDescriptor(\.time)],
        [SortDescriptor(\.level, order: .reverse), SortDescriptor(\.time, order: .reverse)],
        [SortDescriptor(\.level), SortDescriptor(\.time, order: .reverse)],
        [SortDescriptor(\.snr, order: .reverse), SortDescriptor(\.level)],
        [SortDescriptor(\.snr), SortDescriptor(\.level, order: .reverse)],
        [SortDescriptor(\.heat)], [SortDescriptor(\.heat, order: .reverse)], [SortDescriptor(\.sequence)],
        [SortDescriptor(\.name), SortDescriptor(\.time)], [SortDescriptor(\.node, order: .reverse)],
        [SortDescriptor(\.kind.rawValue, order: .reverse), SortDescriptor(\.sequence)],
    ]

    /// Rows that are equal in the order come in that of their keys, in its reverse where the last descriptor is a reverse one.
    static func sorted(_ rows: [Sample], _ order: [SortDescriptor<Sample>]) -> [Sample] {
        (order.last?.order == .reverse ? rows.reversed() : rows).sorted(using: order)
    }

    @Test(arguments: UInt64(1)...5)
    func `G6 K11 K16: indexes give what a closure over all rows gives, in any order and with any limit`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let rows = Sample.random(Int.random(in: 0..<200, using: &random), &random)
        let store = try Sample.store(folder, rows, isIndexed: !seed.isMultiple(of: 4))
        defer { store.close() }
        for _ in 0..<4 {
            for (name, predicate) in Self.all(&random) {
                let wanted = try rows.filter { try predicate.evaluate($0) }
                var descriptor = FetchDescriptor(predicate: predicate)
                descriptor.sortBy = try #require(Self.orders.randomElement(using: &random))
                let sorted = Self.sorted(wanted, descriptor.sortBy)
                let what = "\(name), seed \(seed), \(try QueryRun(descriptor).explanation), sorted by \(descriptor.sortBy)"
                #expect(try QueryRun(descriptor).rows(in: store) == sorted, "\(what)")
                #expect(try QueryRun(descriptor).count(in: store) == wanted.count, "\(what)")
                descriptor.fetchLimit = Int.random(in: 0..<8, using: &random)
                descriptor.fetchOffset = Int.random(in: 0..<4, using: &random)
                let page = Array(sorted.dropFirst(descriptor.fetchOffset).prefix(descriptor.fetchLimit ?? 0))
                #expect(try QueryRun(descriptor).rows(in: store) == page, "\(what)")
                #expect(try QueryRun(descriptor).count(in: store) == page.count, "\(what)")
            }
        }
    }

    private func explain(_ predicate: Predicate<Sample>?, _ order: [SortDescriptor<Sample>] = [], limit: Int? = nil) throws
        -> QueryExplanation
    { try QueryRun(FetchDescriptor(predicate: predicate, sortBy: order, fetchLimit: limit)).explanation }

    @Test func `G7 K11 G12: the index, what bounds it, and that nothing is sorted are reported`() throws {
        let time: UInt32 = 7
        let newest = try explain(nil, [SortDescriptor(\.time, order: .reverse)], limit: 50)
        #expect("\(newest)" == "every row of samples by index (time); filter: none; sort: none")
        let level = try explain(#Predicate { $0.level == 3 && $0.time > time }, [SortDescriptor(\.time)])
        #expect("\(level)" == "rows of samples by index (level, time): level, time; filter: none; sort: none")
        let red = Sample.Kind.red
        let descending = try explain(#Predicate { $0.kind == red }, [SortDescriptor(\.time, order: .reverse)])
        #expect("\(descending)" == "rows of samples by index (kind, time-): kind; filter: none; sort: none")
        let crossed = try explain(nil, [SortDescriptor(\.snr, order: .reverse), SortDescriptor(\.level)])
        #expect(crossed.indexes == ["snr-, level"] && !crossed.isSorted)
        let back = try explain(nil, [SortDescriptor(\.snr), SortDescriptor(\.level, order: .reverse)])
        #expect(back.indexes == ["snr-, level"] && !back.isSorted)
        let straight = try explain(nil, [SortDescriptor(\.snr), SortDescriptor(\.level)])
        #expect(straight.indexes.isEmpty && straight.isSorted)
        let either = try explain(#Predicate { $0.time == time || $0.name == "a" })
        #expect(
            "\(either)" == "rows of samples by index (time), (name): time, name; filter: each row; sort: none"
                && either.access == .union)
        let node: UInt32 = 1
        let key = try explain(#Predicate { $0.node == node && $0.sequence == 7 && $0.time == time })
        #expect(key.indexes.isEmpty && key.access == .ranges && key.isFiltered)
    }
}
