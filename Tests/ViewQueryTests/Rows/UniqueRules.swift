import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Of rows with the same values one is current, whatever the order in which they came; none is refused.
@Suite struct UniqueRules {
    private func store<Policy>(_ path: String, _ rows: [Badge<Policy>]) throws -> ViewStore {
        let store = try ViewStore.open(
            at: path, recipe: Recipe(view: "badges", version: 1, policy: "", keyring: ""), tables: ["badges"],
            indexes: Badge<Policy>.indexedTables, access: .readWrite)
        try store.environment.write { (transaction) throws(StorageError) in
            for row in rows { try transaction.put(store.table("badges"), key: row.key.rawSpan, value: row.value.rawSpan) }
        }
        try store.buildMissingIndexes()
        return store
    }

    /// The ids of current rows, by the store and by a closure over all rows.
    private func current<Policy: BadgePolicy>(
        _ policy: Policy.Type, _ random: inout SeededGenerator, best: (Badge<Policy>, Badge<Policy>) -> Badge<Policy>
    ) throws -> (found: [UInt32], wanted: [UInt32]) {
        let folder = try TemporaryFolder()
        let rows = (UInt32(0)..<60).map { id in
            Badge<Policy>(
                id: id, team: UInt16.random(in: 0..<3, using: &random),
                name: [nil, "ab", "e\u{301}", "\u{e9}", String(repeating: "x", count: 70), String(repeating: "x", count: 71)]
                    .randomElement(using: &random) ?? nil, score: Int32.random(in: 0..<9, using: &random))
        }
        let store = try store(folder.path + "/badges", rows.shuffled(using: &random))
        defer { store.close() }
        let wanted = rows.filter { row in
            guard row.name != nil || Policy.nilsAreEqual else { return true }
            let rivals = rows.filter { $0.team == row.team && $0.name == row.name }
            return rivals.dropFirst().reduce(rivals[0], best).id == row.id
        }
        let unique = UniqueRows<Badge<Policy>>(in: store)
        #expect(try QueryRun(FetchDescriptor<Badge<Policy>>()).rows(in: store) == rows)
        let some = try unique.current(FetchDescriptor(predicate: #Predicate { $0.team == 1 }, fetchLimit: 2))
        #expect(some.map(\.id) == wanted.filter { $0.team == 1 }.prefix(2).map(\.id))
        return (try unique.current(FetchDescriptor()).map(\.id), wanted.map(\.id))
    }

    @Test(arguments: UInt64(1)...4)
    func `K10 G16 G17: of rows with the same pair of values one is current, by the rule, and all stay`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let first = try current(KeepsFirst.self, &random) { old, _ in old }
        #expect(first.found == first.wanted)
        let last = try current(Replaces.self, &random) { _, new in new }
        #expect(last.found == last.wanted)
        let highest = try current(Highest.self, &random) { $1.score > $0.score ? $1 : $0 }
        #expect(highest.found == highest.wanted)
    }

    @Test(arguments: UInt64(1)...3)
    func `K10: a rule over one to four properties finds by each policy the row that a closure over all finds`(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let rows = (UInt32(0)..<120).map { number in
            Four(
                number: number, a: UInt8.random(in: 0..<2, using: &random), b: UInt16.random(in: 0..<2, using: &random),
                c: Int32.random(in: -1...0, using: &random), d: Bool.random(using: &random))
        }
        let store = try ViewStore.open(
            at: folder.path + "/fours", recipe: Recipe(view: "fours", version: 1, policy: "", keyring: ""), tables: [Four.table],
            indexes: Four.indexedTables, access: .readWrite)
        defer { store.close() }
        try store.environment.write { (transaction) throws(StorageError) in
            for row in rows.shuffled(using: &random) {
                try transaction.put(store.table("fours"), key: row.key.rawSpan, value: row.value.rawSpan)
            }
        }
        try store.buildMissingIndexes()
        let winners = rows.filter { row in
            let (all, three) = (rows.filter { $0.all == row.all }, rows.filter { ($0.a, $0.b, $0.c) == (row.a, row.b, row.c) })
            return all.last == row && three.filter { $0.d }.first.map { $0 == row } ?? (three.first == row)
        }
        #expect(try UniqueRows<Four>(in: store).current(FetchDescriptor()) == winners)
    }

    @Test func `G18: a missing value equals no other, unless the rule says so`() throws {
        var random = SeededGenerator(seed: 9)
        let differ = try current(Replaces.self, &random) { _, new in new }
        let equal = try current(NilsToo.self, &random) { _, new in new }
        #expect(differ.found == differ.wanted && equal.found == equal.wanted)
        #expect(differ.found.count > equal.found.count)
    }
}

private protocol BadgePolicy: Sendable {
    static var nilsAreEqual: Bool { get }
    static func collision<Policy>(_ row: Badge<Policy>.Type) -> UniqueRule<Badge<Policy>>.Collision
}

private enum KeepsFirst: BadgePolicy {
    static let nilsAreEqual = false
    static func collision<Policy>(_ row: Badge<Policy>.Type) -> UniqueRule<Badge<Policy>>.Collision { .keepFirst }
}

private enum Replaces: BadgePolicy {
    static let nilsAreEqual = false
    static func collision<Policy>(_ row: Badge<Policy>.Type) -> UniqueRule<Badge<Policy>>.Collision { .replace }
}

private enum NilsToo: BadgePolicy {
    static let nilsAreEqual = true
    static func collision<Policy>(_ row: Badge<Policy>.Type) -> UniqueRule<Badge<Policy>>.Collision { .replace }
}

private enum Highest: BadgePolicy {
    static let nilsAreEqual = false
    static func collision<Policy>(_ row: Badge<Policy>.Type) -> UniqueRule<Badge<Policy>>.Collision {
        .resolve { old, new in new.score > old.score ? new : old }
    }
}

private struct Badge<Policy: BadgePolicy>: QueryRow, Equatable {
    var id: UInt32
    var team: UInt16 = 0
    var name: String?
    var score: Int32 = 0

    static var view: String { "badges" }
    static var table: String { "badges" }
    static var columns: [RowColumn<Badge>] {
        [
            RowColumn(key: "id", \.id) { $0.id }, RowColumn("team", \.team) { $0.team }, RowColumn("name", \.name) { $0.name },
            RowColumn("score", \.score) { $0.score },
        ]
    }
    static var uniques: [UniqueRule<Badge>] {
        [.unique(\.team, \.name, nilsAreEqual: Policy.nilsAreEqual, onCollision: Policy.collision(Badge.self))]
    }

    init(id: UInt32, team: UInt16, name: String?, score: Int32) {
        (self.id, self.team, self.name, self.score) = (id, team, name, score)
    }

    init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 4, value.byteCount >= 9 else { return nil }
        self.init(
            id: key.bigEndianUInt32(at: 0), team: UInt16(truncatingIfNeeded: value.bigEndianUInt32(at: 0)),
            name: value.byte(at: 8) == 1 ? String(decoding: value.asArray.dropFirst(9), as: UTF8.self) : nil,
            score: Int32(truncatingIfNeeded: value.bigEndianUInt32(at: 4)))
    }

    var key: [UInt8] { bigEndian(id) }
    var value: [UInt8] { bigEndian(UInt32(team)) + bigEndian(score) + [name == nil ? 0 : 1] + Array((name ?? "").utf8) }
}

/// A row with a rule over four properties, the last of which counts, and one over three, where the first counts whose `d` holds.
private struct Four: KeptRow, Equatable {
    var number: UInt32
    var a: UInt8
    var b: UInt16
    var c: Int32
    var d: Bool

    static let view = "fours"
    static let table = "fours"
    static let columns: [RowColumn<Four>] = [
        RowColumn(key: "number", \.number) { $0.number }, RowColumn("a", \.a) { $0.a }, RowColumn("b", \.b) { $0.b },
        RowColumn("c", \.c) { $0.c }, RowColumn("d", \.d) { $0.d },
    ]
    static let uniques: [UniqueRule<Four>] = [
        .unique(\.a, \.b, \.c, \.d, onCollision: .replace),
        .unique(\.a, \.b, \.c, onCollision: .resolve { old, new in !old.d && new.d ? new : old }),
    ]

    var all: [Int] { [Int(a), Int(b), Int(c), d ? 1 : 0] }
    var key: [UInt8] { bigEndian(number) }
    var value: [UInt8] { [a, UInt8(b), UInt8(bitPattern: Int8(c)), d ? 1 : 0] }

    init(number: UInt32, a: UInt8, b: UInt16, c: Int32, d: Bool) {
        (self.number, self.a, self.b, self.c, self.d) = (number, a, b, c, d)
    }

    init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 4, value.byteCount == 4 else { return nil }
        self.init(
            number: key.bigEndianUInt32(at: 0), a: value.byte(at: 0), b: UInt16(value.byte(at: 1)),
            c: Int32(Int8(bitPattern: value.byte(at: 2))), d: value.byte(at: 3) == 1)
    }
}
