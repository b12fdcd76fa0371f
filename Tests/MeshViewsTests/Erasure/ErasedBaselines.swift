import EventLog
import MeshViews
import Meshtastic
import Projections
import Testing
import ViewQuery

@testable import MeshLedger

/// What is left of dropped events is in baselines, and erasures reach it there.
struct ErasedBaselines {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000

    @Test func `a packet of dropped events leaves its sender's history, and the packets beside it stay`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let users = [("First", 7), ("Second", 8), ("Third", 9)].map { name, id in
            Packet(from: 1_001, id: id, rxTime: Self.start + id, port: Port.nodeInfo, payload: Packet.user(name))
        }
        let others = (0..<300).map { Packet(from: 1_002, id: 100 + $0, rxTime: Self.start, payload: Array("hello".utf8)) }
        _ = try await ledger.log.append((users + others).map { $0.event(source) })
        try await ledger.catchUp()
        try await ledger.retention.retain(through: EventSequence(256))
        func names() throws -> [String] {
            try ledger.nodeHistory(RowQuery(newestFirst: false)).map(\.longName).filter { !$0.isEmpty }
        }
        #expect(try names() == ["First", "Second", "Third"])
        try await ledger.erasure.erase(.packet(id: 8, from: 1_001), reason: "asked for")
        try await ledger.catchUp()
        #expect(try names() == ["First", "Third"])
        try await ledger.close()
    }

    @Test func `a packet of dropped events leaves its sender's positions, and those beside it stay`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let places = [UInt32(7), 8, 9].map { id in
            Packet(
                from: 1_001, id: id, rxTime: Self.start + id, port: Port.position,
                payload: Packet.position(Int32(id) * 10_000_000, 7))
        }
        let others = (0..<300).map { Packet(from: 1_002, id: 100 + $0, rxTime: Self.start, payload: Array("hello".utf8)) }
        _ = try await ledger.log.append((places + others).map { $0.event(source) })
        try await ledger.catchUp()
        try await ledger.retention.retain(through: EventSequence(256))
        func packets() throws -> [UInt32] { try ledger.positions(of: 1_001).map(\.packetID).sorted() }
        #expect(try packets() == [7, 8, 9])
        try await ledger.erasure.erase(.packet(id: 8, from: 1_001), reason: "asked for")
        try await ledger.catchUp()
        #expect(try packets() == [7, 9])
        try await ledger.close()
    }

    @Test func `the key that a node announced in dropped events goes with it, and those of other nodes stay`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let users = [UInt32(1_001), 1_002].map { node in
            let user = Packet.user("Node", key: [UInt8](repeating: 7, count: 32))
            return Packet(from: node, id: 7, rxTime: Self.start, port: Port.nodeInfo, payload: user)
        }
        let others = (0..<300).map { Packet(from: 1_003, id: 100 + $0, rxTime: Self.start, payload: Array("hello".utf8)) }
        _ = try await ledger.log.append((users + others).map { $0.event(source) })
        try await ledger.catchUp()
        try await ledger.retention.retain(through: EventSequence(256))
        func holders() throws -> [UInt32] {
            let entries = try ledger.store(of: NodeRow.view).stageState().entries
            return entries.map { $0.key.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } }
        }
        #expect(try holders() == [1_001, 1_002])
        try await ledger.erasure.erase(.node(1_001), reason: "asked for")
        try await ledger.catchUp()
        #expect(try holders() == [1_002])
        try await ledger.close()
    }

    @Test func `a node whose packets retention drops between the search and the erasure is erased from the views`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let named = (0..<300).map { Packet(from: 1_001, id: 7 + $0, rxTime: Self.start + $0, payload: Array("hello".utf8)) }
        _ = try await ledger.log.append(named.map { $0.event(source) })
        try await ledger.catchUp()
        let found = try ledger.erasure.erasable(.node(1_001))
        try await ledger.retention.retain(through: EventSequence(256))
        let report = try await ledger.erasure.erase(
            .sequences(Array(found.flatMap { [$0.lowerBound...EventSequence(256), EventSequence(257)...$0.upperBound] })),
            reason: "asked for", forgetting: ErasureSelection.node(1_001).forgotten)
        try await ledger.catchUp()
        #expect(report.erased == 44)
        #expect(try ledger.messages().isEmpty)
        try await ledger.close()
    }

    @Test func `a trace route of dropped events between other nodes loses the place of an erased one, and keeps the others`()
        async throws
    {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        func position(_ node: UInt32, _ id: UInt32) -> Packet {
            Packet(
                from: node, id: id, rxTime: Self.start, port: Port.position, payload: Packet.position(Int32(id) * 10_000_000, 7))
        }
        let answer = Packet(
            from: 1_009, to: 1_001, id: 8, rxTime: Self.start + 10, port: Port.traceroute,
            payload: Packet.route([1_002, 1_003], [21, 22, 23]), requestID: 7)
        let others = (0..<300).map { Packet(from: 1_005, id: 100 + $0, rxTime: Self.start, payload: Array("hello".utf8)) }
        _ = try await ledger.log.append(([position(1_002, 5), position(1_003, 6), answer] + others).map { $0.event(source) })
        try await ledger.catchUp()
        try await ledger.retention.retain(through: EventSequence(256))
        let before = try #require(try ledger.traceRoutes().first)
        #expect(Set(before.places.map(\.node)) == [1_002, 1_003])
        try await ledger.erasure.erase(.node(1_002), reason: "asked for")
        try await ledger.catchUp()
        let after = try #require(try ledger.traceRoutes().first)
        #expect(after.places == before.places.filter { $0.node == 1_003 })
        try await ledger.close()
    }

    @Test func `an erasure that ends before its event leaves the baselines in force as they were`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let packets = [UInt32(1_001), 1_002].flatMap { node in
            (0..<300).map { Packet(from: node, id: 7 + $0, rxTime: Self.start + $0, payload: Array("hello".utf8)) }
        }
        _ = try await ledger.log.append(packets.map { $0.event(source) })
        try await ledger.catchUp()
        try await ledger.retention.retain(through: EventSequence(256))
        let subject = try #require(ErasureSelection.node(1_001).forgotten)
        await #expect(throws: EventLogError.self) {
            try await ledger.engine.erase(ledger.definitions, keyring: ledger.keys.keyring, forgetting: [subject]) { _ in
                throw EventLogError(.diskFull, path: ledger.path)
            }
        }
        try await ledger.catchUp()
        func senders() throws -> [UInt32: Int] { Dictionary(grouping: try ledger.messages(), by: \.from).mapValues(\.count) }
        let found = try senders()
        #expect(found == [1_001: 300, 1_002: 300])
        try await ledger.maintenance.rebuild()
        #expect(try senders() == found)
        try await ledger.erasure.erase(.node(1_001), reason: "asked for")
        try await ledger.catchUp()
        #expect(try senders() == [1_002: 300])
        try await ledger.close()
    }

    @Test(arguments: UInt64(1)...2)
    func `an erasure says before how many rows of dropped events go, and gateways then count the nodes that are left`(
        seed: UInt64
    ) async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let others = (0..<200).map { Packet(from: 9_999, id: 9_000 + $0, rxTime: Self.start, payload: Array("hello".utf8)) }
        _ = try await ledger.log.append((RandomPackets().packets(400, seed: seed) + others).map { $0.event(source) })
        try await ledger.catchUp()
        func expectNodesCounted() throws {
            let pairs = Dictionary(grouping: try ledger.gatewayNodes(), by: \.gateway).mapValues { UInt64($0.count) }
            let counts = try ledger.gateways().map { ($0.gateway, $0.nodes) }
            #expect(pairs == Dictionary(uniqueKeysWithValues: counts.filter { $0.1 > 0 }))
        }
        func counts() throws -> [String: UInt64] {
            func count<Row: ListedRow>(_: Row.Type) throws -> UInt64 { UInt64(try ledger.fetchCount(FetchDescriptor<Row>())) }
            return try Dictionary(uniqueKeysWithValues: Ledger.listedRows.map { ($0.table, try count($0)) })
        }
        try expectNodesCounted()
        #expect(try ledger.erasure.droppedRows(.node(1_001)) == nil)
        try await ledger.retention.retain(through: EventSequence(512))
        var erased = 0
        for node in try ledger.nodes().map(\.number) where 5_000..<5_005 ~= node {
            let (selection, before) = (ErasureSelection.node(node), try counts())
            #expect(try ledger.erasure.erasable(selection).isEmpty)
            let rows = try #require(try ledger.erasure.droppedRows(selection))
            #expect(rows.through.rawValue == 512 && !rows.isEmpty && rows.description.contains("1 of nodes"), "\(rows)")
            try await ledger.erasure.erase(selection, reason: "asked for")
            try await ledger.catchUp()
            let after = try counts()
            for (table, count) in before {
                #expect(count - (after[table] ?? 0) == rows.counts[table] ?? 0, "\(table) of \(node)")
            }
            #expect(try ledger.erasure.droppedRows(selection)?.isEmpty == true)
            try expectNodesCounted()
            erased += 1
        }
        #expect(erased > 3)
        try await ledger.close()
    }
}
