import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Testing
import ViewQuery

struct Gateways {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000

    private func packet(
        _ id: UInt32, from: UInt32 = 1_001, by gateway: UInt32 = 0x11, _ change: (inout Packet) -> Void = { _ in }
    ) -> Packet {
        var packet = Packet(from: from, id: id, rxTime: Self.start + id, payload: Array("a".utf8), gateway: NodeID.text(gateway))
        packet.snr = 2
        change(&packet)
        return packet
    }

    @Test func `a gateway is what it heard: receptions, packets, nodes, strengths, times and sources`() async throws {
        let ledger = try await ledger(of: [
            packet(1) { $0.snr = -7.5 }, packet(1, by: 0x12), packet(2) { $0.snr = 9 }, packet(3, from: 1_002, by: 0x12),
            packet(3, from: 1_002), packet(2) { ($0.snr, $0.rxTime) = (8, Self.start + 4) }, packet(2) { $0.snr = 9 },
            packet(4) { ($0.isViaMQTT, $0.snr) = (true, 30) }, packet(5, from: 0x11) { $0.snr = 40 }, packet(6) { $0.snr = .nan },
            packet(7) { $0.gateway = "" }, packet(8, from: 0), packet(9, from: .max),
        ])
        let rows = try ledger.gateways(RowQuery(newestFirst: false))
        #expect(rows.map(\.gateway) == [0x12, 0x11])
        // Packet 2 was received twice, and one of these receptions came once more, which counts for nothing.
        let first = try #require(try ledger.gateway(0x11))
        #expect((first.receptions, first.packets, first.own, first.viaMQTT, first.nodes) == (7, 6, 1, 1, 2))
        #expect((first.lowestSNR, first.highestSNR, first.lowestRSSI) == (-7.5, 9, nil))
        #expect((first.firstTime, first.time) == (Self.start + 1, Self.start + 6))
        #expect((first.firstSequence, first.sequence, first.sources.count) == (1, 10, 1))
        #expect(try ledger.gateway(0x12).map { ($0.receptions, $0.packets, $0.nodes) == (2, 2, 2) } == true)
        #expect(try ledger.gateway(1_001) == nil)
        try await ledger.close()
    }

    @Test func `S17: which gateway heard which node is a table of its own, with the events that say so`() async throws {
        let ledger = try await ledger(of: [
            packet(1), packet(1, by: 0x12), packet(2), packet(3, from: 1_002), packet(4, from: 0x11),
        ])
        let rows = try ledger.gatewayNodes(RowQuery(newestFirst: false))
        #expect(rows.map { [$0.gateway, $0.node] } == [[0x12, 1_001], [0x11, 1_001], [0x11, 1_002]])
        #expect(
            rows.map(\.receptions) == [1, 2, 1] && rows.map(\.firstSequence) == [2, 1, 4] && rows.map(\.sequence) == [2, 3, 4])
        #expect(try ledger.gatewayNodes(of: 1_001).map(\.gateway) == [0x11, 0x12])
        #expect(try ledger.gatewayNodes(by: 0x12).count == 1)
        let node: UInt32 = 1_001
        let gateway: UInt32 = 0x11
        let ofBoth = FetchDescriptor<GatewayNodeRow>(predicate: #Predicate { $0.gateway == gateway && $0.node == node })
        #expect(try ledger.fetch(ofBoth) == rows.filter { $0.gateway == 0x11 && $0.node == 1_001 })
        #expect(try ledger.explain(ofBoth).access == .ranges)
        try await ledger.close()
    }

    @Test func `at most so many gateways and pairs stay`() async throws {
        let packets = (1...9).map { packet($0, from: 1_000 + $0 % 4, by: 0x10 + $0 % 3) }
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(gateways: 2, gatewayNodes: 4)))
        #expect(try ledger.gateways().map(\.gateway).count == 2)
        #expect(try ledger.gatewayNodes().count == 4)
        try await ledger.close()
    }

    @Test func `a channel has its name, key and hash, its traffic, and when it was heard; what nobody opens has its hash`()
        async throws
    {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        var events = [packet(1), packet(2), packet(2, by: 0x12), packet(3) { $0.channel = "Nowhere" }].map { $0.event(source) }
        events.append(
            NewEvent(
                MeshPacketBuilder.encrypted(from: 1_001, id: 4, hash: 77, Array(repeating: 0xa5, count: 40)),
                encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue), source: source,
                reception: .recorded(Timestamp(seconds: Int64(Self.start) + 9))))
        try await ledger.log.append(events)
        try await ledger.catchUp()
        let rows = try ledger.channels()
        #expect(rows.map(\.channel.title) == ["LongFast", "hash 77, unreadable", "Nowhere"])
        #expect(rows.map(\.receptions) == [3, 1, 1] && rows.map(\.packets) == [2, 1, 1] && rows.map(\.hash) == [nil, 77, nil])
        #expect(rows.map(\.channel.isReadable) == [true, false, true] && rows[0].channel.keyFingerprint != 0)
        #expect((rows[0].firstHeard, rows[0].lastHeard) == (Self.start + 1, Self.start + 2))
        #expect((rows[0].firstSequence, rows[0].lastSequence) == (1, 3))
        let readable = FetchDescriptor<ChannelRow>(predicate: #Predicate { $0.channel.isReadable && $0.packets > 1 })
        #expect(try ledger.fetch(readable).map(\.channel.name) == ["LongFast"])
        try await ledger.close()
    }
}
