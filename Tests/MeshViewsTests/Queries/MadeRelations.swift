import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import TestKit
import Testing
import ViewQuery

/// Relations that people make, what becomes of related rows, and filters over relations.
struct MadeRelations {
    private static let guards = Relation<NodeRow, WaypointRow>(made: "guards")
    private static let home = Relation<NodeRow, WaypointRow>(made: "home", isToOne: true)

    private static func ledger() async throws -> Ledger {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        var packets: [MeshPacketBuilder] = []
        for node in UInt32(1_001)...1_004 {
            for id in UInt32(1)...node - 1_000 {
                packets.append(
                    MeshPacketBuilder(
                        from: node, id: id, rxTime: 1_780_000_000 + id, port: Port.position,
                        payload: MeshPacketBuilder.position(Int32(id) * 1_000, 7)))
            }
            packets.append(
                MeshPacketBuilder(
                    from: node, id: 50, rxTime: 1_780_000_050, port: Port.waypoint,
                    payload: MeshPacketBuilder.waypoint(node, "hut \(node)")))
        }
        packets.append(MeshPacketBuilder(from: 1_002, id: 60, rxTime: 1_780_000_060, payload: Array("hello".utf8)))
        packets.append(MeshPacketBuilder(from: 1_005, id: 61, rxTime: 1_780_000_061, payload: Array("silent".utf8)))
        _ = try await ledger.log.append(packets.map { $0.event(source) })
        try await ledger.catchUp()
        return ledger
    }

    private func nodes(_ ledger: Ledger, _ numbers: UInt32...) throws -> [NodeRow] {
        try numbers.map { try #require(try ledger.node($0)) }
    }

    private func waypoints(_ ledger: Ledger, _ ids: UInt32...) throws -> [WaypointRow] {
        try ids.map { try #require(try ledger.waypoint($0)) }
    }

    private func guarded(_ ledger: Ledger, _ node: UInt32) throws -> [UInt32] {
        try ledger.related(nodes(ledger, node), Self.guards).flatMap { $0 }.map(\.id)
    }

    @Test func `G22 K8: relations are set, appended and detached by events, which a replay and an undoing follow`() async throws {
        let ledger = try await Self.ledger()
        #expect(try guarded(ledger, 1_001).isEmpty)
        try await ledger.annotations.set(Self.guards, of: nodes(ledger, 1_001, 1_002), to: waypoints(ledger, 1_003, 1_001))
        #expect(try guarded(ledger, 1_001) == [1_001, 1_003] && guarded(ledger, 1_002) == [1_001, 1_003])
        let append = try await ledger.annotations.append(
            waypoints(ledger, 1_004, 1_003), to: Self.guards, of: nodes(ledger, 1_001)
        )
        .lowerBound
        #expect(try guarded(ledger, 1_001) == [1_001, 1_003, 1_004])
        let detach = try await ledger.annotations.detach(waypoints(ledger, 1_001), from: Self.guards, of: nodes(ledger, 1_001))
            .lowerBound
        #expect(try guarded(ledger, 1_001) == [1_003, 1_004] && guarded(ledger, 1_002) == [1_001, 1_003])
        #expect(try ledger.fetchCount(FetchDescriptor<ReferenceRow>()) == 4)
        let digest = try ledger.maintenance.digest(of: ReferenceRow.view)
        try await ledger.maintenance.rebuild()
        #expect(try ledger.maintenance.digest(of: ReferenceRow.view) == digest && guarded(ledger, 1_001) == [1_003, 1_004])
        let then = try ledger.asOf(.sequence(append.rawValue))
        #expect(try then.related(nodes(ledger, 1_001), Self.guards)[0].map(\.id) == [1_001, 1_003, 1_004])
        try await then.close()
        try await ledger.annotations.revert(detach)
        #expect(try guarded(ledger, 1_001) == [1_001, 1_003, 1_004])
        try await ledger.annotations.revert(append)
        #expect(try guarded(ledger, 1_001) == [1_001, 1_003])
        try await ledger.annotations.set(Self.guards, of: nodes(ledger, 1_001), to: waypoints(ledger, 1_002))
        #expect(try guarded(ledger, 1_001) == [1_002])
        try await ledger.annotations.detach(from: Self.guards, of: nodes(ledger, 1_001))
        #expect(try guarded(ledger, 1_001).isEmpty && guarded(ledger, 1_002) == [1_001, 1_003])

        let head = ledger.log.head
        let (one, two) = (try nodes(ledger, 1_001), try waypoints(ledger, 1_001, 1_002))
        await #expect(throws: LedgerError.self) { try await ledger.annotations.set(Self.home, of: one, to: two) }
        await #expect(throws: LedgerError.self) {
            try await ledger.annotations.set(NodeRow.positions, of: one, to: ledger.positions(of: 1_001))
        }
        #expect(ledger.log.head == head)
        try await ledger.annotations.set(Self.home, of: one, to: [two[0]])
        #expect(try ledger.snapshot { try $0.one(one[0], Self.home)?.id } == 1_001)
        try await ledger.close()
    }

    @Test func `undoing a relation names the nodes that it refers to again, so that they can be erased`() async throws {
        let ledger = try await Self.ledger()
        let peers = Relation<NodeRow, NodeRow>(made: "peers")
        let (first, second, third) = (try nodes(ledger, 1_001), try nodes(ledger, 1_002), try nodes(ledger, 1_003))
        try await ledger.annotations.append(second, to: peers, of: first)
        let last = try await ledger.annotations.append(third, to: peers, of: first).lowerBound
        try await ledger.annotations.revert(last)
        #expect(try ledger.related(first, peers)[0].map(\.number) == [1_002])
        try await ledger.erasure.erase(.node(1_002), reason: "asked for")
        try await ledger.catchUp()
        #expect(try ledger.fetch(FetchDescriptor<ReferenceRow>()).allSatisfy { !$0.nodes.contains(1_002) })
        try await ledger.maintenance.rebuild()
        #expect(try ledger.fetch(FetchDescriptor<ReferenceRow>()).allSatisfy { !$0.nodes.contains(1_002) })
        try await ledger.close()
    }

    @Test func `in a snapshot, relations are those of its time`() async throws {
        let ledger = try await Self.ledger()
        let (node, first, second) = (try nodes(ledger, 1_001), try waypoints(ledger, 1_001), try waypoints(ledger, 1_002))
        try await ledger.annotations.set(Self.guards, of: node, to: first)
        try await onThread {
            try ledger.snapshot(of: [ReferenceRow.view, WaypointRow.view], timeLimit: .seconds(3_600)) { snapshot in
                try waiting { try await ledger.annotations.append(second, to: Self.guards, of: node) }
                #expect(try snapshot.related(node, Self.guards)[0].map(\.id) == [1_001])
            }
        }
        #expect(try guarded(ledger, 1_001) == [1_001, 1_002])
        try await ledger.close()
    }

    @Test(arguments: DeleteRule.allCases)
    func `K8 G22: what becomes of related rows is a rule of each relation; one that denies leaves no trace`(rule: DeleteRule)
        async throws
    {
        let ledger = try await Self.ledger()
        try await ledger.annotations.set(Self.guards, of: nodes(ledger, 1_003), to: waypoints(ledger, 1_001, 1_002))
        let three = FetchDescriptor<NodeRow>(predicate: #Predicate { $0.number == 1_003 })
        let head = ledger.log.head
        let rules = [RelationRule(NodeRow.positions, rule), RelationRule(Self.guards, rule)]
        func archive() async throws -> Int? { try await ledger.annotations.archive(rows: three, rules: rules)?.count }
        if rule == .deny {
            for rule in rules {
                await #expect(throws: LedgerError.self) { try await ledger.annotations.archive(rows: three, rules: [rule]) }
            }
            #expect(try ledger.log.head == head && ledger.node(1_003) != nil && ledger.positions(of: 1_003).count == 3)
            try await ledger.annotations.archive(rows: FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == 1_003 }))
            try await ledger.annotations.detach(from: Self.guards, of: nodes(ledger, 1_003))
        }
        let count = try await archive()
        #expect(try ledger.node(1_003) == nil)
        #expect(count == (rule == .cascade ? 6 : 1))
        let isKept = rule == .nullify || rule == .noAction
        #expect(try ledger.positions(of: 1_003).count == (isKept ? 3 : 0))
        #expect(try ledger.waypoints().count == (rule == .cascade ? 2 : 4))
        if isKept {
            // What stays leads back to nothing while the node is archived.
            let own = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == 1_003 })
            #expect(try ledger.fetch(own, with: PositionRow.reporter).allSatisfy(\.related.isEmpty))
        }
        try await ledger.maintenance.rebuild()
        #expect(try ledger.node(1_003) == nil && ledger.positions(of: 1_003).count == (isKept ? 3 : 0))
        try await ledger.annotations.restore(rows: three)
        #expect(try guarded(ledger, 1_003) == (rule == .noAction ? [1_001, 1_002] : []))
        try await ledger.close()
    }

    @Test func `W12: rows are chosen by whether, and by how many, related rows exist, as a closure over all rows chooses`()
        async throws
    {
        let ledger = try await Self.ledger()
        let nodes = try ledger.fetch(FetchDescriptor<NodeRow>())
        let positions = try ledger.fetch(FetchDescriptor<PositionRow>())
        let messages = try ledger.fetch(FetchDescriptor<MessageRow>())
        func count(_ node: NodeRow) -> Int { positions.count { $0.node == node.number } }
        func found(_ conditions: RowCondition<NodeRow>...) throws -> [UInt32] {
            var descriptor = FetchDescriptor<NodeRow>()
            descriptor.conditions = conditions
            let rows = try ledger.fetch(descriptor)
            #expect(try ledger.fetchCount(descriptor) == rows.count && ledger.page(descriptor).rows == rows)
            #expect(try ledger.snapshot { try $0.fetch(descriptor) } == rows)
            return rows.map(\.number)
        }
        #expect(try found(.exists(NodeRow.positions)) == nodes.filter { count($0) > 0 }.map(\.number))
        #expect(try found(!.exists(NodeRow.positions)) == [1_005])
        for (least, most) in [(0, 0), (1, 1), (2, 3), (3, Int.max), (0, Int.max), (9, 12)] {
            #expect(
                try found(.count(NodeRow.positions, atLeast: least, atMost: most))
                    == nodes.filter { (least...most).contains(count($0)) }.map(\.number))
        }
        let far: Int32 = 2_000
        #expect(
            try found(.exists(NodeRow.positions, where: #Predicate { $0.latitudeE7 > far }))
                == nodes.filter { node in positions.contains { $0.node == node.number && $0.latitudeE7 > far } }.map(\.number))
        #expect(
            try found(.exists(NodeRow.positions), !.exists(NodeRow.sentMessages))
                == nodes.filter { node in count(node) > 0 && !messages.contains { $0.from == node.number } }.map(\.number))
        #expect(
            try found(.any([.count(NodeRow.positions, atLeast: 4), .exists(NodeRow.sentMessages)])) == [1_002, 1_004, 1_005])
        try await ledger.annotations.set(Self.guards, of: [nodes[0]], to: waypoints(ledger, 1_001))
        #expect(try found(.exists(Self.guards)) == [1_001])
        // What is archived is related to nothing.
        try await ledger.annotations.archive(rows: FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == 1_001 }))
        #expect(try found(.exists(NodeRow.positions)) == [1_002, 1_003, 1_004])
        var ofReplies = FetchDescriptor<MessageRow>()
        ofReplies.conditions = [.exists(MessageRow.replies)]
        #expect(try ledger.fetch(ofReplies).isEmpty)
        var alone = FetchDescriptor<NodeRow>()
        alone.conditions = [.exists(NodeRow.positions)]
        #expect(throws: QueryError.self) { try QueryRun(alone) }
        try await ledger.close()
    }

    @Test func `W12 M14: a live query over a relation looks again when the other view changes, or a row is archived`()
        async throws
    {
        let ledger = try await Self.ledger()
        var descriptor = FetchDescriptor<NodeRow>()
        descriptor.conditions = [.count(NodeRow.positions, atLeast: 3)]
        var results = ledger.observe(descriptor).makeAsyncIterator()
        #expect(try await results.next()?.rows.map(\.number) == [1_003, 1_004])
        try await ledger.annotations.archive(rows: FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == 1_004 }))
        #expect(try await results.next()?.rows.map(\.number) == [1_003])
        try await ledger.annotations.archive(rows: FetchDescriptor<NodeRow>(predicate: #Predicate { $0.number == 1_003 }))
        #expect(try await results.next()?.rows.map(\.number) == [])
        try await ledger.close()
    }
}
