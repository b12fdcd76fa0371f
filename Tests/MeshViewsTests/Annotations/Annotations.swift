import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// What people decide: events of the log, hidden rows, marks, and what undoes them.
struct Annotations {
    private typealias Packet = MeshPacketBuilder
    static let start: UInt32 = 1_780_000_000

    static let traffic: [MeshPacketBuilder] = {
        var packets: [MeshPacketBuilder] = []
        for node in UInt32(1)...4 {
            for id in UInt32(1)...3 {
                let text = Array("message \(id) of \(node)".utf8)
                packets.append(MeshPacketBuilder(from: 1_000 + node, id: 10 * node + id, rxTime: start + id, payload: text))
            }
        }
        return packets
    }()

    private func made(_ options: LedgerOptions = LedgerOptions()) async throws -> Ledger {
        try await ledger(of: Self.traffic, options: options)
    }

    private func keys(_ ledger: Ledger, of node: UInt32) throws -> [MessageKey] {
        try ledger.messages(of: node).compactMap { MessageKey($0) }
    }

    // MARK: Nodes

    @Test func `S14 G23: what is archived is hidden everywhere, comes when it is asked for, and is as before when restored`()
        async throws
    {
        let ledger = try await made()
        let before = try #require(try ledger.node(1_002))
        let messages = try ledger.messages(of: 1_002)
        try await ledger.annotations.record(.archive(1_002), .archive(try keys(ledger, of: 1_002)))

        #expect(try ledger.node(1_002) == nil)
        #expect(try Set(ledger.nodes().map(\.number)) == [1_001, 1_003, 1_004])
        #expect(try ledger.fetch(FetchDescriptor<NodeRow>()).map(\.number) == [1_001, 1_003, 1_004])
        #expect(try ledger.fetchCount(FetchDescriptor<NodeRow>()) == 3)
        #expect(try ledger.fetchCount(FetchDescriptor<MessageRow>()) == 9 && ledger.messages().count == 9)
        #expect(try ledger.fetchIdentifiers(FetchDescriptor<MessageRow>()).count == 9)
        #expect(try ledger.page(FetchDescriptor<MessageRow>(fetchLimit: 4)).total == 9)
        #expect(try ledger.searchMessages("message").count == 9)
        #expect(try ledger.snapshot { try $0.fetch(FetchDescriptor<MessageRow>()).count } == 9)
        #expect(try ledger.fetch(FetchDescriptor<MessageRow>(), with: MessageRow.sender).allSatisfy { $0.related.count == 1 })
        var enumerated = 0
        try await ledger.enumerate(FetchDescriptor<MessageRow>()) { _ in enumerated += 1 }
        #expect(enumerated == 9)

        var all = FetchDescriptor<NodeRow>()
        all.includesArchived = true
        #expect(try ledger.fetch(all).count == 4 && ledger.fetchCount(all) == 4)
        let hidden = try #require(try ledger.node(1_002, includingArchived: true))
        #expect(hidden.isArchived && hidden.lastSequence == before.lastSequence)
        var query = RowQuery()
        query.includesArchived = true
        #expect(try ledger.nodes(query).count == 4 && ledger.messages(of: nil, query).count == 12)

        try await ledger.annotations.record(.restore(1_002), .restore(messages.compactMap { MessageKey($0) }))
        #expect(try ledger.node(1_002) == before)
        #expect(try ledger.messages(of: 1_002) == messages)
        try await ledger.close()
    }

    @Test func `S14: an archived row is kept up to date while it is hidden`() async throws {
        let ledger = try await made()
        try await ledger.annotations.record(.archive(1_001), .archive([MessageKey(from: 1_001, id: 11, time: Self.start + 1)]))
        let source = try await ledger.log.source(named: "test")
        var again = Self.traffic[0]
        again.gateway = "!00000099"
        _ = try await ledger.log.append(again.event(source))
        try await ledger.catchUp()
        try await ledger.annotations.record(.restore(1_001), .restore([MessageKey(from: 1_001, id: 11, time: Self.start + 1)]))
        #expect(try ledger.message(id: 11, from: 1_001)?.receptions == 2)
        #expect(try ledger.node(1_001)?.receptions == 4)
        try await ledger.close()
    }

    @Test func `marks and notes are in the row, filter lists, and outlive the row`() async throws {
        let ledger = try await made(LedgerOptions(caps: ViewCaps(nodes: 5)))
        try await ledger.annotations.record(.favorite(1_001), .ignore(1_002), .note(1_002, "roof ⛵"), .alias(1_003, "harbour"))
        let rows = try ledger.nodes(RowQuery(newestFirst: false))
        #expect(rows.map(\.isFavorite) == [true, false, false, false])
        #expect(rows.map(\.isIgnored) == [false, true, false, false])
        #expect(rows.map(\.note) == ["", "roof ⛵", "", ""] && rows[2].alias == "harbour")
        #expect(try ledger.nodes(named: "harbour").map(\.number) == [1_003])
        var query = RowQuery()
        query.isIgnored = false
        #expect(try ledger.nodes(query).count == 3 && ledger.messages(of: nil, query).count == 9)
        query.isFavorite = true
        #expect(try ledger.nodes(query).map(\.number) == [1_001])

        let source = try await ledger.log.source(named: "test")
        let others = (0..<2_000).map { Packet(from: 5_000 + $0, id: 1, rxTime: Self.start + 100 + $0).event(source) }
        _ = try await ledger.log.append(others)
        try await ledger.catchUp()
        #expect(try ledger.node(1_002, includingArchived: true) == nil)
        _ = try await ledger.log.append(Packet(from: 1_002, id: 99, rxTime: Self.start + 9_000).event(source))
        try await ledger.catchUp()
        let back = try #require(try ledger.node(1_002))
        #expect(back.isIgnored && back.note == "roof ⛵" && back.packets == 1)
        try await ledger.close()
    }

    @Test func `X1 D21: favorites survive a flood, and nodes that are no longer favorites go like others`() async throws {
        let ledger = try await made(LedgerOptions(caps: ViewCaps(nodes: 10)))
        try await ledger.annotations.record(.favorite(1_001), .favorite(1_002), .favorite(1_003))
        let source = try await ledger.log.source(named: "test")
        func flood(_ first: UInt32) async throws {
            let nodes = (0..<3_000).map {
                Packet(from: first + $0, id: 1, rxTime: first + $0).event(source, at: Self.start + first + $0)
            }
            _ = try await ledger.log.append(nodes)
            try await ledger.catchUp()
        }
        try await flood(10_000)
        #expect(try ledger.nodes().count == 10)
        #expect(try [1_001, 1_002, 1_003, 1_004].map { try ledger.node($0) != nil } == [true, true, true, false])
        try await ledger.annotations.record(.favorite(1_002, false))
        try await flood(20_000)
        #expect(try [1_001, 1_002, 1_003].map { try ledger.node($0) != nil } == [true, false, true])
        try await ledger.close()
    }

    // MARK: Undoing

    @Test func `W10: every annotation is undone by another one, and that one likewise`() async throws {
        let ledger = try await made()
        try await ledger.annotations.record(.note(1_001, "first"), .alias(1_001, "one"))
        let before = try #require(try ledger.node(1_001))
        var change = Annotation(.node(1_001))
        (change.isFavorite, change.isIgnored, change.isArchived) = (true, true, true)
        (change.note, change.alias) = (.set("second"), .clear)
        let event = try await ledger.annotations.record(change).lowerBound
        let after = try #require(try ledger.node(1_001, includingArchived: true))
        #expect(after.note == "second" && after.alias.isEmpty && after.isArchived)
        let undone = try await ledger.annotations.revert(event).lowerBound
        #expect(try ledger.node(1_001) == before)
        try await ledger.annotations.revert(undone)
        #expect(try ledger.node(1_001, includingArchived: true) == after)

        let messages = try ledger.messages(of: 1_002)
        let read = try await ledger.annotations.record(.read(try keys(ledger, of: 1_002))).lowerBound
        #expect(try ledger.messages(of: 1_002).allSatisfy(\.isRead))
        try await ledger.annotations.revert(read)
        #expect(try ledger.messages(of: 1_002) == messages)
        try await ledger.close()
    }

    @Test func `W10: what was changed since stays as it is, and what stands no more cannot be undone`() async throws {
        let ledger = try await made()
        let keys = try keys(ledger, of: 1_001)
        let archive = try await ledger.annotations.record(.archive(keys)).lowerBound
        try await ledger.annotations.record(.restore([keys[0]]))
        try await ledger.annotations.record(.note(1_001, "x"))
        try await ledger.annotations.revert(archive)
        #expect(try ledger.messages(of: 1_001).count == 3)
        let head = ledger.log.head
        for sequence in [archive.rawValue, 1, 9_999] {
            await #expect(throws: LedgerError.self) { try await ledger.annotations.revert(EventSequence(sequence)) }
        }
        #expect(ledger.log.head == head)
        try await ledger.close()
    }

    // MARK: Messages

    @Test func `K14: one event names what a query matched, so that a replay hides the same messages`() async throws {
        let ledger = try await made()
        let head = ledger.log.head
        let done = try #require(
            try await ledger.annotations.archive(
                FetchDescriptor<MessageRow>(predicate: #Predicate { $0.text.contains("2 of") }), request: "two"))
        #expect(done.count == 4 && done.events.count == 1 && ledger.log.head == head.advanced(by: 1))
        let event = try #require(try ledger.log.event(done.events.lowerBound))
        let annotation = try #require(Annotation(event))
        #expect(annotation.nodes == [1_001, 1_002, 1_003, 1_004] && annotation.request == "two")
        // A message that the query would match by now is not hidden, neither at once nor by a replay.
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(
            Packet(from: 1_009, id: 5, rxTime: Self.start + 9, payload: Array("message 2 of 9".utf8)).event(source))
        try await ledger.catchUp()
        let digest = try ledger.maintenance.digest(of: "messages")
        #expect(try ledger.messages().count == 9)
        try await ledger.maintenance.rebuild(nil)
        try await ledger.catchUp()
        #expect(try ledger.maintenance.digest(of: "messages") == digest && ledger.messages().count == 9)
        #expect(
            try await ledger.annotations.archive(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.text == "none" })) == nil)
        try await ledger.close()
    }

    @Test func `a key names the message of its hour, among equal ids the nearest`() async throws {
        let times: [UInt32] = [0, 4_000, 8_000]
        let packets = times.map { Packet(id: 7, rxTime: Self.start + $0, payload: Array("at \($0)".utf8)) }
        let ledger = try await ledger(of: packets)
        try await ledger.annotations.record(.read([MessageKey(from: 0x1000_0001, id: 7, time: Self.start + 4_100)]))
        #expect(try ledger.messages(RowQuery(newestFirst: false)).map(\.isRead) == [false, true, false])
        try await ledger.annotations.record(.read([MessageKey(from: 0x1000_0001, id: 7, time: Self.start + 20_000)]))
        #expect(try ledger.messages().count(where: \.isRead) == 1)
        try await ledger.close()
    }

    @Test func `K5 G23: what was hidden or driven out is reported among the changes with its key`() async throws {
        let ledger = try await made(LedgerOptions(caps: ViewCaps(messages: 12)))
        let start = try ledger.changes.position(of: "messages")
        let row = try #require(try ledger.message(id: 21, from: 1_002))
        try await ledger.annotations.record(.archive([try #require(MessageKey(row))]))
        let hidden = try ledger.changes.fetch(of: "messages", since: start)
        #expect(hidden.changes.count == 1 && hidden.changes.first?.table == "messages")
        let change = try #require(hidden.changes.first?.row as? MessageRow)
        #expect(change.isArchived && change.text == row.text && change.sequence == row.sequence)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(Packet(from: 1_009, id: 5, rxTime: Self.start + 9, payload: [65]).event(source))
        try await ledger.catchUp()
        let gone = try ledger.changes.fetch(of: "messages", since: hidden.position).changes.filter { $0.value == nil }
        #expect(gone.count == 1 && gone[0].key.count == 21)
        try await ledger.close()
    }

    // MARK: Rules

    @Test func `G15: an alias is one node's only; a refused annotation writes nothing`() async throws {
        let ledger = try await made()
        try await ledger.annotations.record(.alias(1_001, "harbour"))
        let head = ledger.log.head
        let long = String(repeating: "x", count: Annotation.longestNote + 1)
        let refused: [[Annotation]] = [
            [.favorite(1_004), .alias(1_002, "harbour")], [.alias(1_002, "hill"), .alias(1_003, "hill")], [.alias(1_002, "1001")],
            [.note(1_002, long)], [.favorite(77)], [Annotation(.node(1_001))], [.read([])], [],
        ]
        for annotations in refused {
            await #expect(throws: LedgerError.self) { try await ledger.annotations.record(annotations) }
        }
        #expect(ledger.log.head == head)
        #expect(try ledger.node(1_004)?.isFavorite == false)
        try await ledger.close()
    }

    @Test func `G16 G18: an alias passes to another node where that is said; nodes without one do not collide`() async throws {
        let ledger = try await made()
        try await ledger.annotations.record(.alias(1_001, "harbour"))
        try await ledger.annotations.record(.alias(1_002, "harbour"), onCollision: .replace)
        #expect(try ledger.nodes(RowQuery(newestFirst: false)).map(\.alias) == ["", "harbour", "", ""])
        try await ledger.annotations.record(.alias(1_002, nil), .alias(1_003, nil))
        #expect(try ledger.nodes().allSatisfy { $0.alias.isEmpty })
        try await ledger.annotations.record(.alias(1_001, "harbour"))
        #expect(try ledger.nodes(named: "harbour").map(\.number) == [1_001])
        try await ledger.close()
    }

    @Test func `G16: an alias that replaces another archives the node that had it, in one commit, if that is said`() async throws
    {
        let ledger = try await made()
        try await ledger.annotations.record(.alias(1_001, "harbour"))
        let events = try await ledger.annotations.record(.alias(1_002, "harbour"), onCollision: .archive)
        #expect(events.count == 2)
        #expect(try ledger.nodes(named: "harbour").map(\.number) == [1_002])
        let old = try #require(try ledger.node(1_001, includingArchived: true))
        #expect(try ledger.node(1_001) == nil && old.isArchived && old.alias.isEmpty)
        // Where nobody else has it nothing is archived.
        #expect(try await ledger.annotations.record(.alias(1_003, "hill"), onCollision: .archive).count == 1)
        #expect(try await ledger.annotations.record(.alias(1_003, "hill"), .note(1_003, "x"), onCollision: .archive).count == 2)
        let digest = try ledger.maintenance.digest(of: "nodes")
        try await ledger.maintenance.rebuild()
        #expect(try ledger.maintenance.digest(of: "nodes") == digest)
        try await ledger.close()
    }

    @Test func `G17: whose an alias is can be settled by a rule; one node has it, and what the rule forbids is not written`()
        async throws
    {
        let ledger = try await made()
        try await ledger.annotations.record(.alias(1_002, "harbour"))
        let lower: @Sendable (NodeRow, NodeRow) -> NodeRow = { $0.number < $1.number ? $0 : $1 }
        let head = ledger.log.head
        #expect(try await ledger.annotations.record([.alias(1_003, "harbour")], resolving: lower) == nil)
        #expect(try ledger.log.head == head && ledger.nodes(named: "harbour").map(\.number) == [1_002])
        let both = try await ledger.annotations.record(
            [.alias(1_001, "harbour"), .alias(1_004, "harbour"), .note(1_004, "x")], resolving: lower)
        #expect(both?.count == 2)
        #expect(try ledger.nodes(RowQuery(newestFirst: false)).map(\.alias) == ["harbour", "", "", ""])
        #expect(try ledger.node(1_004)?.note == "x")
        await #expect(throws: LedgerError.self) { try await ledger.annotations.record([.alias(77, "harbour")], resolving: lower) }
        try await ledger.close()
    }

    @Test(arguments: MessagesRule.allCases) func `K8 G22: the messages of a node that goes stay, go with it, or keep it`(
        rule: MessagesRule
    ) async throws {
        let ledger = try await made()
        try await ledger.annotations.record(.read(try Array(keys(ledger, of: 1_001).prefix(2))))
        let head = ledger.log.head
        switch rule {
        case .keep:
            try await ledger.annotations.archive(1_001, messages: rule)
            #expect(try ledger.messages(of: 1_001).count == 3)
            // The relation leads to nothing while the node is hidden.
            let own = FetchDescriptor<MessageRow>(predicate: #Predicate { $0.from == 1_001 })
            #expect(try ledger.fetch(own, with: MessageRow.sender).allSatisfy(\.related.isEmpty))
            try await ledger.annotations.record(.restore(1_001))
            #expect(try ledger.fetch(own, with: MessageRow.sender).allSatisfy { $0.related.count == 1 })
        case .cascade:
            let events = try await ledger.annotations.archive(1_001, messages: rule)
            #expect(events.count == 2)
            #expect(try ledger.node(1_001) == nil && ledger.messages(of: 1_001).isEmpty && ledger.messages().count == 9)
        case .deny:
            await #expect(throws: LedgerError.self) { try await ledger.annotations.archive(1_001, messages: rule) }
            #expect(try ledger.log.head == head && ledger.node(1_001) != nil)
            try await ledger.annotations.record(.read(try keys(ledger, of: 1_001)))
            try await ledger.annotations.archive(1_001, messages: rule)
            #expect(try ledger.node(1_001) == nil)
        }
        try await ledger.close()
    }

    @Test func `K15: a transaction that throws, or that has an annotation that is refused, writes nothing`() async throws {
        struct Stop: Error {}
        let ledger = try await made()
        let source = try await ledger.log.source(named: "test")
        let head = ledger.log.head
        await #expect(throws: Stop.self) {
            try await ledger.transaction { transaction in
                transaction.append(Self.traffic[0].event(source))
                transaction.annotate(.favorite(1_001))
                throw Stop()
            }
        }
        await #expect(throws: LedgerError.self) {
            try await ledger.transaction { transaction in
                transaction.append(Self.traffic[0].event(source))
                transaction.annotate(.favorite(77))
            }
        }
        #expect(ledger.log.head == head)
        var elsewhere = Self.traffic[0]
        elsewhere.gateway = "!00000012"  // the same gateway again would be no reception of its own
        let event = elsewhere.event(source)
        let range = try await ledger.transaction { transaction in
            transaction.append(event)
            transaction.annotate(.favorite(1_001))
            transaction.annotate(.note(1_001, "both"))
        }
        #expect(range?.count == 3 && ledger.log.head == head.advanced(by: 3))
        let row = try #require(try ledger.node(1_001))
        #expect(row.isFavorite && row.note == "both" && row.receptions == 4)
        try await ledger.close()
    }
}
