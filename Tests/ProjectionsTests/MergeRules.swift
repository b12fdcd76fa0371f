import Projections
import TestKit
import Testing

/// How news go into a row.
struct MergeRules {
    struct Row: Equatable, Sendable {
        var name = ""
        var model: UInt32 = 0
        var firmware: String?
        var heard: UInt32 = 0
        var gateways: [UInt32] = []
        var battery = 0
        var voltage = 0.0
        var measured: UInt32 = 0
        var sequence: UInt64 = 0
    }

    private static let stored = Row(name: "old", model: 1, firmware: "2.5", heard: 10, gateways: [1, 2], battery: 50)
    private static let news = Row(name: "new", model: 2, firmware: "2.6", heard: 5, gateways: [2, 3, 4], battery: 60)
    private static let nothing = Row()

    private func merged(_ news: Row, into stored: Row = Self.stored, _ merge: Merge<Row>) -> Row {
        var row = stored
        merge(&row, news)
        return row
    }

    @Test func `G19: each rule does to its property what it says, and nothing to others`() {
        #expect(merged(Self.news, Merge()) == Self.stored)
        #expect(merged(Self.nothing, .replace(\.name)).name == "" && merged(Self.news, .replace(\.name)).model == 1)
        #expect(merged(Self.nothing, .keepFilled(\.name)).name == "old" && merged(Self.news, .keepFilled(\.name)).name == "new")
        #expect(
            merged(Self.nothing, .keepFilled(\.model)).model == 1 && merged(Self.news, .keepFilled(\.firmware)).firmware == "2.6")
        #expect(merged(Self.nothing, .keepFilled(\.firmware)).firmware == "2.5")
        #expect(merged(Self.news, .firstFilled(\.name)).name == "old")
        #expect(merged(Self.news, into: Self.nothing, .firstFilled(\.name)).name == "new")
        #expect(merged(Self.news, .append(\.gateways, most: 9)).gateways == [1, 2, 3, 4])
        #expect(merged(Self.news, .append(\.gateways, most: 3)).gateways == [1, 2, 3])
        #expect(merged(Self.news, .largest(\.heard)).heard == 10 && merged(Self.news, .smallest(\.heard)).heard == 5)
        #expect(merged(Self.news, .custom(\.battery) { $0 += $1 }).battery == 110)
        let both = merged(Self.news, Merge(.keepFilled(\.name), .firstFilled(\.model), .largest(\.heard)))
        #expect((both.name, both.model, both.heard, both.battery) == ("new", 1, 10, 50))
    }

    @Test(arguments: 1...200)
    func `G19: last write wins and first write wins give the same row for any order of the writes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let writes = (0..<8).map { index in
            Row(
                name: "name \(index)", battery: Int.random(in: 0...100, using: &random), voltage: Double(index),
                measured: UInt32.random(in: 1...3, using: &random), sequence: UInt64(index + 1))
        }
        let last = Merge<Row>.lastWrite(by: \.measured, \.sequence, .replace(\.battery), .replace(\.name), .replace(\.voltage))
        let first = Merge<Row>.firstWrite(by: \.measured, \.sequence, .replace(\.battery), .replace(\.name), .replace(\.voltage))
        func fold(_ writes: [Row], _ merge: Merge<Row>) -> Row {
            var row = writes[0]
            for write in writes.dropFirst() { merge(&row, write) }
            return row
        }
        let order = writes.sorted { ($0.measured, $0.sequence) < ($1.measured, $1.sequence) }
        for _ in 0..<10 {
            let shuffled = writes.shuffled(using: &random)
            #expect(fold(shuffled, last) == order[order.count - 1], "seed \(seed)")
            #expect(fold(shuffled, first) == order[0], "seed \(seed)")
        }
    }

    @Test func `G21: a property is set, cleared or kept`() {
        var (text, number, name): (String?, Int?, String) = ("old", 7, "old")
        Patch<String>.keep.apply(to: &text)
        Patch<Int>.set(8).apply(to: &number)
        Patch<String>.keep.apply(to: &name)
        #expect((text, number, name) == ("old", 8, "old"))
        Patch<String>.clear.apply(to: &text)
        Patch<Int>.clear.apply(to: &number)
        Patch<String>.clear.apply(to: &name)
        #expect((text, number, name) == (nil, nil, ""))
        Patch<String>.set("new").apply(to: &name)
        #expect(name == "new" && Patch("x") == .set("x") && Patch<String>(nil) == .clear)
        #expect(
            Patch.set(1).applied(to: nil) == 1 && Patch<Int>.clear.applied(to: 1) == nil && Patch<Int>.keep.applied(to: 1) == 1)
    }
}
