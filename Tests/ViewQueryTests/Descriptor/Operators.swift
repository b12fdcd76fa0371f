import Foundation
import Projections
import TestKit
import Testing
import ViewQuery

extension Sight {
    /// Not columns: read through their key paths.
    var numbers: [Int32] { (0..<Int32(time % 5)).map { ($0 * $0 + Int32(name.utf8.count)) % 5 - 2 } }
    var marks: [String: Int32] { Dictionary(uniqueKeysWithValues: numbers.enumerated().map { ("\($0)", $1) }) }
    var ratio: Double { Double(time % 100) / 8 - 2 }
    var small: Int { Int(time % 40) - 12 }
    var thing: any Sendable { kind == .fox ? name : height }
}

/// Everything that `#Predicate` can build on Linux. What the macro cannot build is no matter of ours: it does not compile.
@Suite struct Operators {
    private static func rows(_ seed: UInt64) -> [Sight] {
        var random = SeededGenerator(seed: seed)
        return Sight.random(200, &random)
    }

    /// The same rows, and no value for those for which Foundation has none.
    private func check(_ name: String, _ predicate: Predicate<Sight>, _ rows: [Sight]) throws {
        let folder = try TemporaryFolder()
        var (valued, wanted, without): ([Sight], [Sight], [Sight]) = ([], [], [])
        for row in rows {
            switch Result(catching: { try predicate.evaluate(row) }) {
            case .success(let isWanted):
                valued.append(row)
                if isWanted { wanted.append(row) }
            case .failure: without.append(row)
            }
        }
        let run = try QueryRun(FetchDescriptor(predicate: predicate))
        let store = try Sight.store(folder, valued)
        defer { store.close() }
        #expect(try run.rows(in: store) == wanted, "\(name)")
        for (index, row) in without.prefix(2).enumerated() {
            let store = try Sight.store(folder, [row], name: "without-\(index)")
            defer { store.close() }
            let error = #expect(throws: QueryError.self, "\(name): \(row)") { try run.rows(in: store) }
            #expect(error?.code == .noValue, "\(name): \(row)")
        }
        #expect(!wanted.isEmpty || !without.isEmpty, "\(name) shows nothing")
    }

    @Test func `K16: arithmetic is Foundation's`() throws {
        let (three, height) = (3, Int32(2))
        let half = 0.5
        try checkAll([
            ("sum", #Predicate { $0.small + three > 5 }),
            ("difference", #Predicate { $0.small - three < -4 }),
            ("product", #Predicate { $0.small * $0.small == 9 }),
            ("quotient", #Predicate { $0.small / three == -1 }),
            ("remainder", #Predicate { $0.small % three == 1 }),
            ("minus", #Predicate { -$0.small > three }),
            ("fraction", #Predicate { $0.ratio / half > 3 }),
            ("fractions", #Predicate { $0.ratio * 2 - half >= 1.5 }),
            ("in optionals", #Predicate { ($0.height ?? 0) * height + 1 == 5 }),
        ])
    }

    @Test func `K16: optionals are Foundation's`() throws {
        let height = Int32(1)
        try checkAll([
            ("flatMap", #Predicate { $0.height.flatMap { $0 > height ? $0 : 0 } == 3 }),
            ("map", #Predicate { $0.height.flatMap { $0 + 1 } == height }),
            ("chained", #Predicate { $0.numbers.first?.magnitude == 2 }),
            ("coalesced", #Predicate { ($0.height ?? -3) <= height }),
            ("unwrapped", #Predicate { $0.height! == height }),
            ("if let", #Predicate { if let height = $0.height { height > 0 } else { $0.name.isEmpty } }),
            ("ternary", #Predicate { ($0.height == nil ? $0.small : 0) > 4 }),
        ])
    }

    @Test func `K16 W12: collections are Foundation's`() throws {
        let some: Set<Int32> = [0, 2]
        let (key, prefix) = ("1", [Int32(-2), -1])
        try checkAll([
            ("contains", #Predicate { $0.numbers.contains(0) }),
            ("contains where", #Predicate { $0.numbers.contains { $0 > 1 } }),
            ("all", #Predicate { $0.numbers.allSatisfy { $0 < 3 } }),
            ("filter", #Predicate { $0.numbers.filter { $0 > 0 }.count > 1 }),
            ("nested", #Predicate { row in row.numbers.contains { number in row.numbers.filter { $0 == number }.count > 1 } }),
            ("closure over the row", #Predicate { row in row.numbers.contains { $0 == (row.height ?? 9) } }),
            ("starts", #Predicate { $0.numbers.starts(with: prefix) }),
            ("set", #Predicate { some.contains($0.height ?? 7) }),
            ("set of elements", #Predicate { $0.numbers.contains { some.contains($0) } }),
            ("element", #Predicate { $0.numbers[1] == 1 }),
            ("elements", #Predicate { $0.numbers[1..<3].contains(0) }),
            ("maximum", #Predicate { ($0.numbers.max() ?? 0) > 1 }),
            ("minimum", #Predicate { ($0.numbers.min() ?? 0) < 0 }),
            ("dictionary", #Predicate { $0.marks[key] == 1 }),
            ("dictionary with a default", #Predicate { $0.marks[key, default: 3] > 1 }),
            ("count of a relation", #Predicate { $0.numbers.count > 2 }),
        ])
    }

    @Test func `K16 G10: strings and ranges are Foundation's`() throws {
        let (word, empty, letter) = ("ab", "", "B")
        let range = Int32(-1)..<2
        try checkAll([
            ("less", #Predicate { $0.name < word }),
            ("at least", #Predicate { $0.name >= word }),
            ("contains", #Predicate { $0.name.contains(word) }),
            ("contains nothing", #Predicate { $0.name.contains(empty) }),
            ("does not contain", #Predicate { !$0.name.contains(word) }),
            ("starts", #Predicate { $0.name.starts(with: letter) }),
            ("lower case by property", #Predicate { $0.name.count < 3 }),
            ("in text", #Predicate { word.contains($0.name) }),
            ("range", #Predicate { range.contains($0.height ?? 9) }),
            ("from", #Predicate { ($0.small...30).contains(8) }),
            ("regular expression", #Predicate { $0.name.contains(/a.*[bc]$/) }),
        ])
    }

    @Test func `K16: types are Foundation's`() throws {
        try checkAll([
            ("is", #Predicate { $0.thing is String }),
            ("as?", #Predicate { ($0.thing as? String) == "ab" }),
            ("as!", #Predicate { ($0.thing as! String) == "ab" }),
        ])
    }

    private func checkAll(_ all: [(String, Predicate<Sight>)]) throws {
        for (name, predicate) in all { try check(name, predicate, Self.rows(7)) }
    }

    @Test func `numbers that do not fit have no value instead of ending the process`() throws {
        let folder = try TemporaryFolder()
        let (least, zero, most) = (Int32.min, Int32(0), Int32.max)
        let tests: [Predicate<Sight>] = [
            #Predicate { ($0.height ?? 0) + most > 0 }, #Predicate { least - ($0.height ?? 0) < 0 },
            #Predicate { ($0.height ?? 0) * most > 0 }, #Predicate { ($0.height ?? 0) / zero > 0 },
            #Predicate { ($0.height ?? 0) % zero > 0 }, #Predicate { least / (1 - ($0.height ?? 0)) > 0 },
            #Predicate { -(least - ($0.height ?? 0) + 2) > 0 }, #Predicate { $0.node - 9 > 0 },
        ]
        let store = try Sight.store(folder, [Sight(node: 7, kind: .fox, time: 3, height: 2, name: "x")])
        defer { store.close() }
        for (index, predicate) in tests.enumerated() {
            let error = #expect(throws: QueryError.self, "\(index)") {
                _ = try QueryRun(FetchDescriptor(predicate: predicate)).rows(in: store)
            }
            #expect(error?.code == .noValue)
        }
    }

    @Test func `what is evaluated in a way of somebody else is refused`() throws {
        let predicate = Predicate<Sight> { Odd(row: $0) }
        let error = #expect(throws: QueryError.self) { _ = try QueryRun(FetchDescriptor(predicate: predicate)) }
        #expect(error?.code == .unsupported && error?.description.contains("Odd") == true)
    }
}

/// An expression that is not Foundation's.
private struct Odd: StandardPredicateExpression {
    let row: PredicateExpressions.Variable<Sight>
    func evaluate(_ bindings: PredicateBindings) throws -> Bool { try row.evaluate(bindings).time % 2 == 1 }
}
