import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import Testing
import ViewQuery

struct Sensors {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000

    private func packet(_ id: UInt32, _ port: UInt32, _ payload: [UInt8], from: UInt32 = 1_001) -> Packet {
        Packet(from: from, id: id, rxTime: Self.start + id, port: port, payload: payload)
    }

    private static func encoded(_ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        body(&writer)
        return writer.bytes
    }

    private static let count: [UInt8] = encoded { writer in
        var pax = Paxcount()
        (pax.wifi, pax.bluetooth, pax.uptime) = (12, 3, 900)
        pax.encode(to: &writer)
    }

    @Test func `detections, counts, range tests and store-and-forward are kept as they came`() async throws {
        var forward = StoreAndForward()
        (forward.kind, forward.content) = (1, .text(Array("kept".utf8)))
        let ledger = try await ledger(of: [
            packet(1, Port.detectionSensor, Array("Gate opened".utf8)), packet(2, Port.paxcounter, Self.count),
            packet(3, Port.rangeTest, Array("seq 7".utf8)),
            packet(4, Port.storeForward, Self.encoded { forward.encode(to: &$0) }),
            packet(4, Port.storeForward, Self.encoded { forward.encode(to: &$0) }), packet(5, Port.text, Array("no sensor".utf8)),
        ])
        let rows = try ledger.sensors(RowQuery(newestFirst: false))
        #expect(rows.map(\.kind) == [.detection, .paxcounter, .rangeTest, .storeForward])
        #expect(rows.map(\.text) == ["Gate opened", nil, "seq 7", "kept"])
        #expect(rows[1].paxcount.map { [$0.wifi, $0.bluetooth, $0.uptime] } == [12, 3, 900])
        #expect(rows[3].storeAndForward?.kind == 1 && rows[1].payload == Self.count)
        #expect(
            rows.map(\.sequence) == [1, 2, 3, 4] && rows.allSatisfy { $0.channel == "LongFast" && $0.gateway == 0xaabb_ccdd })
        try await ledger.close()
    }

    @Test func `they are asked for by node, kind and time, at most the cap of each kind`() async throws {
        let many = (1...6).map { packet($0, Port.rangeTest, Array("seq \($0)".utf8)) }
        let others = [packet(7, Port.paxcounter, Self.count), packet(8, Port.rangeTest, Array("x".utf8), from: 1_002)]
        let ledger = try await ledger(of: many + others, options: LedgerOptions(caps: ViewCaps(sensors: 4)))
        #expect(try ledger.sensors(of: 1_001, kind: .rangeTest).compactMap(\.text) == ["seq 6", "seq 5", "seq 4", "seq 3"])
        #expect(try ledger.sensors(of: 1_001).count == 5)
        #expect(try ledger.sensors(kind: .rangeTest, RowQuery(limit: 2, offset: 1)).compactMap(\.text) == ["seq 6", "seq 5"])
        #expect(try ledger.sensors(RowQuery(since: Timestamp(seconds: Int64(Self.start) + 7))).count == 2)
        let kind = SensorKind.rangeTest
        let some = FetchDescriptor<SensorRow>(predicate: #Predicate { $0.node == 1_002 && $0.kind == kind })
        #expect(try ledger.fetch(some).compactMap(\.text) == ["x"])
        #expect(try ledger.explain(some).access == .ranges)
        try await ledger.close()
    }

    @Test func `S19: what is no message goes to quarantine, and no row is made`() async throws {
        let ledger = try await ledger(of: [packet(1, Port.paxcounter, [0x08]), packet(2, Port.detectionSensor, [0xff, 0xfe])])
        #expect(try ledger.sensors().isEmpty)
        #expect(try ledger.maintenance.quarantine().map(\.sequence) == [2, 1])
        try await ledger.close()
    }
}
