import EventLog
import Foundation
import ProtobufWire
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

/// Results that come whenever a commit has changed them.
@Suite(.timeLimit(.minutes(40))) struct LiveQueries {
    private static func of(_ sender: UInt32) -> FetchDescriptor<MessageRow> {
        FetchDescriptor(predicate: #Predicate { $0.from == sender }, sortBy: [SortDescriptor(\.sequence)])
    }

    private static let (mine, other): (UInt32, UInt32) = (0x1000_0001, 0x2000_0002)

    @Test func `M14: a commit that changes the result gives it once, others give nothing, cancelling ends it`() async throws {
        let ledger = try await Ledger.temporary()
        try await Asking.text("first", id: 1, to: ledger)
        try await ledger.catchUp()
        var live = ledger.observe(Self.of(Self.mine)).makeAsyncIterator()
        #expect(try await live.next()?.rows.map(\.text) == ["first"])
        for round in 0..<4 as Range<UInt32> {
            for id in 0..<3 as Range<UInt32> {
                try await Asking.text("else", id: 100 + round * 10 + id, from: Self.other, to: ledger)
                try await ledger.catchUp()
            }
            try await Asking.text("mine \(round)", id: 10 + round, to: ledger)
            try await ledger.catchUp()
            // The next result is that of this commit: those before it gave none.
            let texts = try await live.next()?.rows.map(\.text)
            #expect(texts == ["first"] + (0...round).map { "mine \($0)" })
        }
        try await ledger.maintenance.rebuild()
        try await Asking.text("last", id: 77, to: ledger)
        try await ledger.catchUp()
        #expect(try await live.next()?.rows.last?.text == "last")
        let waiting = Task { () -> Int in
            var count = 0
            for try await _ in ledger.observe(Self.of(Self.other)) { count += 1 }
            return count
        }
        waiting.cancel()
        #expect(try await waiting.value <= 1)
        try await ledger.close()
    }

    @Test func `M14: a row whose values change and take as many bytes as before gives the result again`() async throws {
        let ledger = try await Ledger.temporary()
        let mine = Self.mine
        var state: LiveQueryState<NodeRow>?
        var lengths: Set<Int> = []
        for id in 1...4 as ClosedRange<UInt32> {
            try await Asking.text("\(id)", id: id, to: ledger)
            try await ledger.catchUp()
            var known =
                try state ?? LiveQueryState(FetchDescriptor(predicate: #Predicate { $0.number == mine }), after: nil, ledger)
            let rows = try #require(try known.changed(ledger))
            #expect(rows.map(\.packets) == [UInt64(id)])
            #expect(try known.changed(ledger) == nil)
            for row in rows {
                var writer = WireWriter()
                row.encode(to: &writer)
                lengths.insert(writer.bytes.count)
            }
            state = known
        }
        #expect(lengths.count == 1)
        try await ledger.close()
    }

    @Test func `M14: a result that differs in a value, in a row or in its order is another, and the same one is not`()
        async throws
    {
        let ledger = try await Ledger.temporary()
        for id in 1...3 as ClosedRange<UInt32> { try await Asking.text("\(id)", id: id, to: ledger) }
        try await ledger.catchUp()
        let forward = Self.of(Self.mine)
        var state = try LiveQueryState(forward, after: nil, ledger)
        #expect(try state.changed(ledger)?.count == 3)
        #expect(try state.changed(ledger) == nil)
        let first = state.token
        let source = try await ledger.log.source(named: "radio")
        for count in [2, 3] as [UInt64] {
            var again = MeshPacketBuilder(from: Self.mine, id: 2, payload: Array("2".utf8))
            again.gateway = "!0000007\(count)"
            _ = try await ledger.log.append(again.event(source))
            try await ledger.catchUp()
            #expect(try state.changed(ledger)?.map(\.receptions) == [1, count, 1].map { .init($0) })
            #expect(try state.changed(ledger) == nil)
        }
        let last = state.token
        func result(_ change: (inout FetchDescriptor<MessageRow>) -> Void, after token: LiveQueryToken?) throws -> [String]? {
            var descriptor = forward
            change(&descriptor)
            var state = try LiveQueryState(descriptor, after: token, ledger)
            return try state.changed(ledger)?.map(\.text)
        }
        #expect(try result({ _ in }, after: last) == nil)
        #expect(try result({ _ in }, after: first) == ["1", "2", "3"])
        #expect(try result({ $0.sortBy = [SortDescriptor(\.sequence, order: .reverse)] }, after: last) == ["3", "2", "1"])
        #expect(try result({ $0.fetchLimit = 3 }, after: last) == nil)
        #expect(try result({ $0.fetchLimit = 2 }, after: last) == ["1", "2"])
        #expect(try result({ $0.fetchLimit = 0 }, after: last) == [])
        try await ledger.close()
    }

    @Test func `M14: limits, offsets, deletions and rows that change are seen`() async throws {
        var options = LedgerOptions()
        options.caps.messages = 4
        let ledger = try await Ledger.temporary(options: options)
        for id in 1...4 as ClosedRange<UInt32> { try await Asking.text("\(id)", id: id, to: ledger) }
        try await ledger.catchUp()
        var newest = Self.of(Self.mine)
        newest.fetchLimit = 1
        newest.fetchOffset = 2
        var (live, oldest) = (ledger.observe(newest).makeAsyncIterator(), newest)
        oldest.fetchOffset = 0
        var first = ledger.observe(oldest).makeAsyncIterator()
        #expect(try await live.next()?.rows.map(\.text) == ["3"])
        #expect(try await first.next()?.rows.map(\.text) == ["1"])
        // A change of another row is looked at, since it may move what stands at an offset, and gives nothing.
        var state = try LiveQueryState(newest, after: nil, ledger)
        #expect(try state.changed(ledger)?.map(\.text) == ["3"])
        let source = try await ledger.log.source(named: "radio")
        var again = MeshPacketBuilder(from: Self.mine, id: 4, payload: Array("4".utf8))
        again.gateway = "!00000077"
        _ = try await ledger.log.append(again.event(source))
        try await ledger.catchUp()
        #expect(try state.changed(ledger) == nil)
        // The cap drives the first one out.
        try await Asking.text("5", id: 5, to: ledger)
        try await ledger.catchUp()
        #expect(try await live.next()?.rows.map(\.text) == ["4"])
        #expect(try await first.next()?.rows.map(\.text) == ["2"])
        // Heard again: the row is another.
        (again.id, again.payload) = (2, Array("2".utf8))
        _ = try await ledger.log.append(again.event(source))
        try await ledger.catchUp()
        #expect(try await first.next()?.rows.map(\.receptions) == [2])
        try await ledger.close()
    }

    @Test func `M14: a process that only reads is told of what another one writes`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await Ledger.create(at: path).close()
        try run(
            "simulate", "--seed", "1", "--nodes", "5", "--packets", "60", "--to", folder.path + "/capture", "--as", "envelopes")
        let reader = try await Ledger.open(at: path, options: LedgerOptions(access: .readOnly))
        var live = reader.observe(FetchDescriptor<NodeRow>(sortBy: [SortDescriptor(\.number)])).makeAsyncIterator()
        #expect(try await live.next()?.rows.isEmpty == true)
        try run("import", "--ledger", path, folder.path + "/capture")
        let rows = try #require(try await live.next()).rows
        #expect(try !rows.isEmpty && rows == reader.fetch(FetchDescriptor<NodeRow>()))
        try await reader.close()
    }

    private func run(_ arguments: String...) throws {
        let run = try FinishedProcess(BuiltProgram.url(), arguments)
        #expect(run.status == 0, "\(arguments): \(run.text)")
    }

    @Test func `a token goes on after a restart without loss and without a repetition`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var ledger = try await Ledger.create(at: path)
        try await Asking.text("first", id: 1, to: ledger)
        try await ledger.catchUp()
        var token: LiveQueryToken?
        var texts: [[String]] = []
        for round in 0..<5 as Range<UInt32> {
            var live = ledger.observe(Self.of(Self.mine), after: token).makeAsyncIterator()
            let isNew = round != 3
            if !isNew {
                // Nothing has changed: the first result is that of the next commit.
                try await Asking.text("after a rest", id: 50, to: ledger)
                try await ledger.catchUp()
            }
            let result = try #require(try await live.next())
            texts.append(result.rows.map(\.text))
            let text = try JSONEncoder().encode(result.token)
            token = try JSONDecoder().decode(LiveQueryToken.self, from: text)
            try await ledger.close()
            ledger = try await Ledger.open(at: path)
            try await Asking.text("else", id: 100 + round, from: Self.other, to: ledger)
            if round != 2 { try await Asking.text("\(round)", id: 10 + round, to: ledger) }
            if round == 1 { try await ledger.maintenance.rebuild() }
            try await ledger.catchUp()
        }
        #expect(
            texts == [
                ["first"], ["first", "0"], ["first", "0", "1"], ["first", "0", "1", "after a rest"],
                ["first", "0", "1", "after a rest", "3"],
            ])
        try await ledger.close()
    }
}
