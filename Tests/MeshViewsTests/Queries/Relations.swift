import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

/// Rows that lead to others.
@Suite(.timeLimit(.minutes(40))) struct Relations {
    @Test func `K9 G2 G5: both ways of a relation agree, and are what a search through all rows finds`() async throws {
        let ledger = try await Asking.ledger()
        let nodes = try ledger.fetch(FetchDescriptor<NodeRow>())
        let positions = try ledger.fetch(FetchDescriptor<PositionRow>())
        let tracks = try ledger.related(nodes, NodeRow.positions)
        #expect(tracks.count == nodes.count && tracks.map(\.count).reduce(0, +) > 100)
        for (node, track) in zip(nodes, tracks) {
            #expect(track == positions.filter { $0.node == node.number })
            #expect(try ledger.related(node, NodeRow.positions, newest: 3) == Array(track.reversed().prefix(3)))
        }
        let reporters = try ledger.related(positions, PositionRow.reporter)
        for (position, reporter) in zip(positions, reporters) { #expect(reporter.map(\.number) == [position.node]) }
        let telemetry = try ledger.fetch(FetchDescriptor<TelemetryRow>())
        for (node, rows) in zip(nodes, try ledger.related(nodes, NodeRow.telemetry)) {
            #expect(rows == telemetry.filter { $0.node == node.number })
        }
        let messages = try ledger.fetch(FetchDescriptor<MessageRow>())
        for (node, rows) in zip(nodes, try ledger.related(nodes, NodeRow.sentMessages)) {
            #expect(rows == messages.filter { $0.from == node.number })
        }
        for row in try [
            ledger.expand(FetchDescriptor<NodeRow>(fetchLimit: 1), [.rows, .ids]),
            ledger.expand(FetchDescriptor<PositionRow>(fetchLimit: 1), [.rows, .ids]),
            ledger.expand(FetchDescriptor<TelemetryRow>(fetchLimit: 1), [.rows, .ids]),
            ledger.expand(FetchDescriptor<MessageRow>(fetchLimit: 1), [.rows, .ids]),
        ].joined() {
            let names = row.values.map(\.name) + row.relations.map(\.name)
            #expect(Set(names).count == names.count, "\(row.view): \(names)")
        }
        try await ledger.close()
    }

    private static func thread() async throws -> Ledger {
        let ledger = try await Ledger.temporary()
        try await Asking.text("who is there?", id: 1, to: ledger)
        try await Asking.text("me", id: 2, replyTo: 1, from: 0x2000_0002, to: ledger)
        try await Asking.text("me, too", id: 3, replyTo: 1, from: 0x3000_0003, to: ledger)
        try await Asking.text("good", id: 4, replyTo: 2, to: ledger)
        try await Asking.text("without an id", id: 0, from: 0x2000_0002, to: ledger)
        try await ledger.catchUp()
        return ledger
    }

    @Test func `K9 K21: replies and what they answer agree, read in one snapshot`() async throws {
        let ledger = try await Self.thread()
        let all = FetchDescriptor<MessageRow>(sortBy: [SortDescriptor(\.sequence)])
        let rows = try ledger.fetch(all, with: MessageRow.replies)
        #expect(rows.map { $0.related.map(\.text) } == [["me", "me, too"], ["good"], [], [], []])
        for (row, answered) in try ledger.fetch(all, with: MessageRow.answered) {
            #expect(answered.map(\.id) == (row.replyID == 0 ? [] : [row.replyID]))
        }
        #expect(try ledger.fetch(all, with: MessageRow.sender).allSatisfy { $0.related.map(\.number) == [$0.row.from] })
        // In another thread the same id is another message.
        let source = try await ledger.log.source(named: "radio")
        var direct = MeshPacketBuilder(from: 0x2000_0002, id: 5, payload: Array("to you alone".utf8))
        (direct.to, direct.replyID) = (0x3000_0003, 1)
        _ = try await ledger.log.append(direct.event(source))
        try await ledger.catchUp()
        #expect(try ledger.fetch(all, with: MessageRow.replies).map(\.related.count) == [2, 1, 0, 0, 0, 0])
        #expect(try ledger.fetch(all, with: MessageRow.answered).map(\.related.count) == [0, 1, 1, 1, 0, 0])
        try ledger.snapshot(timeLimit: .seconds(3_600)) { snapshot in
            let first = try #require(try snapshot.fetch(all).first)
            #expect(try snapshot.related([first], MessageRow.replies)[0].map(\.text) == ["me", "me, too"])
            #expect(try snapshot.one(first, MessageRow.sender)?.number == first.from)
        }
        try await ledger.close()
    }

    @Test func `G3 G4: nested JSON has the rows of each depth, and what leads back ends`() async throws {
        let ledger = try await Self.thread()
        let first = FetchDescriptor<MessageRow>(predicate: #Predicate { $0.id == 2 })
        func json(_ depths: [ExpansionDepth]) throws -> String { try ledger.expand(first, depths).map(\.json).joined() }
        let thread = #"{"channel":0}"#
        func key(_ sequence: Int, _ time: Int = 1_780_000_000) -> String {
            #""thread":\#(thread),"time":\#(time),"sequence":\#(sequence)"#
        }
        #expect(try json([.ids]) == "{\(key(2))}")
        let fragment = #"{\#(key(2)),"from":536870914,"text":"me""#
        #expect(try json([.fragments]) == fragment + "}")
        #expect(
            try json([.fragments, .ids])
                == fragment + #","sender":{"number":536870914},"replies":[{\#(key(4))}],"answered":[{\#(key(1))}],"#
                + #""heardBy":[{"sequence":2}]}"#)
        #expect(
            try json([.fragments, .fragments, .ids]).contains(
                #""answered":[{\#(key(1)),"from":268435457,"text":"who is there?","sender":{"number":268435457},"#
                    + #""replies":[{\#(key(2))},{\#(key(3))}],"answered":[],"heardBy":[{"sequence":1}]}]"#))
        let whole = try json([.rows, .rows, .rows, .rows])
        #expect(whole.contains(#""text":"good""#) && whole.contains(#""state":"sent""#))
        // Every text is JSON, and comes to an end although all rows lead back.
        for depth in 1...6 {
            let text = try json(Array(repeating: .rows, count: depth))
            _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
        }
        #expect(try ledger.expand(FetchDescriptor<NodeRow>(), [.ids, .rows])[0].relations.isEmpty)
        let nodes = try ledger.expand(
            FetchDescriptor<NodeRow>(sortBy: [SortDescriptor(\.number)]), [.fragments, .ids], newest: 1)
        #expect(nodes[0].relations.first { $0.name == "sentMessages" }?.rows.count == 1)
        // Each row is nested in its own.
        for node in try ledger.expand(FetchDescriptor<NodeRow>(), [.fragments, .fragments]) {
            let sent = node.relations.first { $0.name == "sentMessages" }?.rows ?? []
            let number = node.values.first { $0.name == "number" }?.json
            #expect(!sent.isEmpty && sent.allSatisfy { row in row.values.first { $0.name == "from" }?.json == number })
        }
        try await ledger.close()
    }
}
