import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Testing
import ViewQuery

struct NodeHistory {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000
    private static let keys = (1...4).map { [UInt8](repeating: $0, count: 32) }

    private func user(
        _ name: String, _ id: UInt32, from: UInt32 = 1_001, key: [UInt8] = [], hardware: UInt32 = 0, role: UInt32 = 0
    ) -> Packet {
        Packet(
            from: from, id: id, rxTime: Self.start + id, port: Port.nodeInfo,
            payload: Packet.user(name, key: key, hardware: hardware, role: role))
    }

    private func history(_ packets: [Packet], options: LedgerOptions = LedgerOptions()) async throws -> [NodeChangeRow] {
        let ledger = try await ledger(of: packets, options: options)
        defer { Task { try await ledger.close() } }
        return try ledger.nodeHistory(RowQuery(newestFirst: false))
    }

    @Test func `each change of name, role, hardware and firmware is an entry, a repetition is none`() async throws {
        let report = Packet(
            from: 1_001, id: 9, rxTime: Self.start + 9, port: Port.mapReport,
            payload: Packet.mapReport("") { $0.firmwareVersion = "2.7.8" })
        let rows = try await history([
            user("Alpha", 1, hardware: 43), user("Alpha", 2, hardware: 43), user("Beta", 3, hardware: 43, role: 2),
            user("Beta", 4, hardware: 9, role: 2),
            report,
        ])
        #expect(rows.map(\.sequence) == [1, 3, 4, 5])
        #expect(
            rows.map(\.changes) == [[.longName, .shortName, .hardware], [.longName, .shortName, .role], .hardware, .firmware])
        #expect(rows.map(\.longName) == ["Alpha", "Beta", "Beta", "Beta"] && rows.map(\.hardwareModel) == [43, 43, 9, 9])
        #expect(rows.map(\.kind) == [.nodeInfo, .nodeInfo, .nodeInfo, .mapReport] && rows.last?.firmware == "2.7.8")
        #expect(rows[1].changes.names == ["long_name", "short_name", "role"])
    }

    @Test func `what a node repeats counts again where it changed meanwhile`() async throws {
        let report = Packet(
            from: 1_001, id: 3, rxTime: Self.start + 3, port: Port.mapReport,
            payload: Packet.mapReport("Reported") { $0.firmwareVersion = "2.7.8" })
        let packets = [
            user("Alpha", 1, hardware: 43), user("Alpha", 2, hardware: 43), report, user("Alpha", 4, hardware: 43),
            user("Alpha", 5, hardware: 43), user("Other", 6, from: 1_002, hardware: 43), user("Alpha", 7, hardware: 43),
        ]
        let ledger = try await ledger(of: packets)
        let rows = try ledger.nodeHistory(of: 1_001, RowQuery(newestFirst: false))
        #expect(rows.map(\.sequence) == [1, 3, 4] && rows.map(\.longName) == ["Alpha", "Reported", "Alpha"])
        let node = try #require(try ledger.node(1_001))
        #expect((node.longName, node.firmware, node.packets, node.lastSequence) == ("Alpha", "2.7.8", 6, 7))
        let hardware = try #require(try ledger.hardwareRows(of: 1_001).first)
        #expect((hardware.count, hardware.time, hardware.sequence) == (5, Self.start + 7, 7), "the report tells no model")
        try await ledger.close()
    }

    @Test func `what a radio's client was sent meanwhile counts again from the node itself`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "radio")
        try await ledger.log.append([user("Alpha", 1).event(source)])
        try await ledger.log.append([RadioFrame.event(RadioFrame.nodeInfo(1_001, name: "Listed"), source, at: Self.start + 2)])
        try await ledger.log.append([user("Alpha", 3).event(source)])
        try await ledger.catchUp()
        #expect(try ledger.nodeHistory(RowQuery(newestFirst: false)).map(\.longName) == ["Alpha", "Listed", "Alpha"])
        #expect(try ledger.node(1_001)?.longName == "Alpha")
        try await ledger.close()
    }

    @Test func `what a radio lists with each connection is counted with no hardware model, in whatever order it comes`()
        async throws
    {
        for listedFirst in [true, false] {
            let ledger = try await Ledger.temporary()
            let source = try await ledger.log.source(named: "radio")
            let listed = (0..<2).flatMap { _ in
                [
                    RadioFrame.event(RadioFrame.myInfo(1_001), source, at: Self.start),
                    RadioFrame.event(RadioFrame.nodeInfo(1_001, name: "Alpha", hardware: 43), source, at: Self.start),
                    RadioFrame.event(RadioFrame.metadata("2.7.8", hardware: 43), source, at: Self.start),
                ]
            }
            let heard = [user("Alpha", 1, hardware: 43).event(source)]
            try await ledger.log.append(listedFirst ? listed + heard : heard + listed)
            try await ledger.catchUp()
            let row = try #require(try ledger.hardwareRows(of: 1_001).first)
            #expect((row.count, row.firmware, row.sequence) == (1, "2.7.8", 7))
            try await ledger.close()
        }
    }

    @Test func `a node that takes the place of one that had to go is introduced by the same words`() async throws {
        let packets = [user("Alpha", 1), user("Alpha", 2, from: 1_002), user("Alpha", 3)]
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(nodes: 1)))
        #expect(try ledger.nodes().map(\.number) == [1_001] && ledger.nodes().map(\.longName) == ["Alpha"])
        #expect(try ledger.nodeHistory(RowQuery(newestFirst: false)).map(\.sequence) == [1, 2, 3])
        try await ledger.close()
    }

    @Test func `X5 D16: the first public key stays, and each other one is reported with its time`() async throws {
        let packets = [
            user("Alpha", 1, key: Self.keys[0]), user("Alpha", 2, key: Self.keys[1]), user("Alpha", 3, key: Self.keys[1]),
            user("Alpha", 4, key: Self.keys[0]), user("Alpha", 5, key: Self.keys[2]), user("Alpha", 6),
        ]
        let ledger = try await ledger(of: packets)
        let rows = try ledger.nodeHistory(of: 1_001, RowQuery(newestFirst: false))
        #expect(rows.map(\.sequence) == [1, 2, 4, 5])
        #expect(rows[0].changes.contains(.firstKey) && rows.dropFirst().map(\.changes) == [.otherKey, .firstKeyAgain, .otherKey])
        #expect(rows.map(\.publicKey) == [Self.keys[0], Self.keys[1], Self.keys[0], Self.keys[2]])
        #expect(try ledger.nodeHistory(changes: .otherKey).map(\.time) == [Self.start + 5, Self.start + 2])
        let node = try #require(try ledger.node(1_001))
        #expect(node.publicKey == Self.keys[0] && node.hasKeyConflict)
        try await ledger.close()
    }

    @Test func `D16: one key under several numbers is reported`() async throws {
        let rows = try await history([
            user("A", 1, key: Self.keys[0]), user("B", 2, from: 1_002, key: Self.keys[1]),
            user("C", 3, from: 1_003, key: Self.keys[0]),
            user("D", 4, from: 1_004, key: Self.keys[0]), user("A", 5, key: Self.keys[1]),
        ])
        #expect(rows.map(\.sameKeyAs) == [0, 0, 1_001, 1_003, 0])
        #expect(rows.map { $0.changes.contains(.sharedKey) } == [false, false, true, true, false])
    }

    @Test func `D17: an empty name, no hardware and no key replace nothing`() async throws {
        let garbage = Packet(from: 1_001, id: 2, rxTime: Self.start + 2, port: Port.nodeInfo, payload: [])
        let ledger = try await ledger(of: [user("Alpha", 1, key: Self.keys[0], hardware: 43, role: 2), garbage])
        #expect(try ledger.nodeHistory().count == 1)
        let node = try #require(try ledger.node(1_001))
        #expect((node.longName, node.hardwareModel, node.role, node.publicKey) == ("Alpha", 43, 2, Self.keys[0]))
        try await ledger.close()
    }

    @Test func `a node keeps its newest entries, and what is known of it`() async throws {
        let names = (1...8).map { user("name \($0)", $0) } + [user("name 8", 9), user("other", 10, from: 1_002)]
        let rows = try await history(names, options: LedgerOptions(caps: ViewCaps(nodeHistory: 3)))
        #expect(rows.map(\.longName) == ["name 6", "name 7", "name 8", "other"])
    }

    @Test func `M12: a hardware model is found by its number with all its targets, the same after any order of import`()
        async throws
    {
        let targets = ["tracker-v2", "tracker", "tracker-v1", "tracker-tft"]
        var answers: [[HardwareModelRow]] = []
        for order in [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]] {
            let ledger = try await Ledger.temporary()
            for place in order {
                let source = try await ledger.log.source(named: "radio \(place)")
                let node = 1_001 + UInt32(place)
                let frames = [
                    RadioFrame.myInfo(node, target: targets[place]), RadioFrame.metadata("2.7.\(place)", hardware: 48),
                ]
                try await ledger.log.append(frames.map { RadioFrame.event($0, source, at: Self.start + UInt32(place)) })
            }
            let source = try await ledger.log.source(named: "broker")
            let changed = [user("X", 20, from: 2_000, hardware: 48), user("X", 21, from: 2_000, hardware: 9)]
            try await ledger.log.append(changed.map { $0.event(source) })
            try await ledger.catchUp()
            answers.append(try ledger.hardware())
            let model: UInt32 = 48
            let indexed = FetchDescriptor<HardwareRow>(predicate: #Predicate { $0.model == model })
            #expect(try ledger.fetch(indexed).map(\.node) == [1_001, 1_002, 1_003, 1_004, 2_000])
            #expect(try ledger.explain(indexed).access == .ranges)
            #expect(try ledger.nodes(ofModel: 48).map(\.target) == targets + [""])
            try await ledger.close()
        }
        #expect(answers[0].map(\.model) == [9, 48])
        #expect(answers[0][1].targets == targets.sorted() && answers[0][1].nodes == [1_001, 1_002, 1_003, 1_004])
        #expect(answers[0][1].formerNodes == [2_000] && answers[0][1].firmware == ["2.7.0", "2.7.1", "2.7.2", "2.7.3"])
        #expect(answers[1] == answers[0] && answers[2] == answers[0])
    }
}
