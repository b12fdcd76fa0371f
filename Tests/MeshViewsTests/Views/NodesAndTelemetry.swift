import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import Testing

/// What the rows of nodes, positions and telemetry have from the first packet on.
struct NodesAndTelemetry {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000

    private func position(_ node: UInt32, _ id: UInt32) -> Packet {
        Packet(
            from: node, id: id, rxTime: Self.start + id, port: Port.position, payload: Packet.position(400_000_000, 80_000_000))
    }

    private func user(_ node: UInt32, _ id: UInt32) -> Packet {
        Packet(
            from: node, id: id, rxTime: Self.start + id, port: Port.nodeInfo,
            payload: Packet.user("node \(node)", hardware: 43, role: 2))
    }

    @Test func `M9 M10 S6: a node is there from its first packet, and its NodeInfo enriches the same row`() async throws {
        let ledger = try await ledger(of: [position(1_001, 1)])
        let before = try #require(try ledger.node(1_001))
        #expect((before.state, before.longName, before.packets) == (.heard, "", 1))
        let source = try await ledger.log.source(named: "test")
        try await ledger.log.append([user(1_001, 2).event(source)])
        try await ledger.catchUp()
        let after = try #require(try ledger.node(1_001))
        #expect((after.state, after.longName, after.hardwareModel, after.role) == (.introduced, "node 1001", 43, 2))
        #expect(try ledger.nodes().count == 1 && after.firstSequence == before.firstSequence)
        try await ledger.close()
    }

    @Test func `M29: two packets of a new node in one batch make one row`() async throws {
        let ledger = try await ledger(of: [position(1_001, 1), user(1_001, 2), position(1_001, 3)])
        #expect(try ledger.nodes().map(\.packets) == [3])
        try await ledger.close()
    }

    @Test func `D6: nodes that are heard by position only are nodes`() async throws {
        let ledger = try await ledger(of: (0..<200).map { position(2_000 + $0, 1) })
        #expect(try ledger.nodes().count == 200 && ledger.nodes().allSatisfy { $0.state == .heard })
        #expect(try ledger.positions(of: nil).count == 200)
        try await ledger.close()
    }

    @Test func `S13: rows say by which events and when they were made and changed last, also after a replay`() async throws {
        let ledger = try await ledger(of: [position(1_001, 1), user(1_002, 2), user(1_001, 3)])
        func facts() throws -> [[UInt64]] {
            try ledger.nodes(RowQuery(newestFirst: false)).map {
                [$0.firstSequence, $0.lastSequence, UInt64($0.firstHeard), UInt64($0.lastHeard)]
            }
        }
        let start = UInt64(Self.start)
        #expect(try facts() == [[1, 3, start + 1, start + 3], [2, 2, start + 2, start + 2]])
        try await ledger.maintenance.rebuild()
        #expect(try facts() == [[1, 3, start + 1, start + 3], [2, 2, start + 2, start + 2]])
        try await ledger.close()
    }

    @Test func `M16: a node has all that is heard of it`() async throws {
        var heard = user(1_001, 5)
        (heard.hopStart, heard.hopLimit, heard.snr, heard.isViaMQTT) = (3, 1, -7.25, true)
        heard.payload = Packet.user("Alpha", key: [UInt8](repeating: 7, count: 32), hardware: 43, role: 2)
        let ledger = try await ledger(of: [heard])
        let row = try #require(try ledger.node(1_001))
        #expect((row.longName, row.shortName, row.hardwareModel, row.role) == ("Alpha", "Alph", 43, 2))
        #expect((row.hopsAway, row.snr, row.rssi, row.isViaMQTT, row.channel) == (2, -7.25, nil, true, "LongFast"))
        #expect(
            (row.lastHeard, row.firstHeard, row.publicKey, row.hasKeyConflict) == (
                Self.start + 5, Self.start + 5, [UInt8](repeating: 7, count: 32), false
            ))
        try await ledger.close()
    }

    @Test func `D17: a name that a node has repeated is newer than another one that it had before`() async throws {
        func user(_ name: String, at seconds: UInt32) -> Packet {
            Packet(
                from: 1_001, id: seconds, rxTime: Self.start + seconds, port: Port.nodeInfo,
                payload: Packet.user(name, hardware: 43))
        }
        let ledger = try await ledger(of: [user("Alpha", at: 10), user("Alpha", at: 30), user("Beta", at: 20)])
        #expect(try ledger.node(1_001)?.longName == "Alpha")
        let source = try await ledger.log.source(named: "test")
        try await ledger.log.append([user("Gamma", at: 40).event(source)])
        try await ledger.catchUp()
        #expect(try ledger.node(1_001)?.longName == "Gamma")
        try await ledger.close()
    }

    @Test func `metrics have the gateway that heard them, whatever its number is`() async throws {
        var packets = [telemetry(1, kind: 2) { $0.varint(1, 50) }, telemetry(2, kind: 2) { $0.varint(1, 51) }]
        (packets[0].gateway, packets[1].gateway) = ("!00000001", "!ffffffff")
        let ledger = try await ledger(of: packets)
        #expect(try ledger.telemetry(of: nil, RowQuery(newestFirst: false)).map(\.gateway) == [1, .max])
        try await ledger.close()
    }

    private func telemetry(_ id: UInt32, kind: UInt32, _ metrics: (inout WireWriter) -> Void) -> Packet {
        var writer = WireWriter()
        writer.fixed32(1, Self.start)
        writer.message(kind, metrics)
        return Packet(from: 1_001, id: id, rxTime: Self.start, port: Port.telemetry, payload: writer.bytes)
    }

    @Test
    func `M19 X10: each kind of metrics has its rows; one that is not known is kept as it came, and nothing absent is zero`()
        async throws
    {
        let kinds = TelemetryKind.allCases
        var packets = kinds.enumerated().map { place, kind in
            telemetry(UInt32(place) + 1, kind: UInt32(kind.rawValue)) { $0.varint(1, 77) }
        }
        packets.append(telemetry(50, kind: 14) { $0.string(3, "tomorrow") })
        packets.append(telemetry(51, kind: 2) { $0.float(2, 0) })
        let ledger = try await ledger(of: packets)
        #expect(try kinds.map { try ledger.telemetry(of: 1_001, kind: $0).count } == kinds.map { $0 == .device ? 2 : 1 })
        let device = try ledger.telemetry(of: 1_001, kind: .device, RowQuery(newestFirst: false))
        let values = try device.map { try TelemetryMetrics(decoding: $0.metrics.rawSpan, kind: .device).values.map(\.field.name) }
        #expect(values == [["battery_level"], ["voltage"]])
        let unknown = try ledger.unknownTelemetry()
        #expect(unknown.map(\.kind) == [14] && unknown.map(\.sequence) == [UInt64(kinds.count) + 1])
        var body = WireWriter()
        body.string(3, "tomorrow")
        #expect(unknown.map(\.metrics) == [body.bytes] && unknown.map(\.time) == [Self.start])
        #expect(try ledger.unknownTelemetry(of: 5).isEmpty && ledger.maintenance.quarantine().isEmpty)
        try await ledger.close()
    }

    @Test func `K12: packets of all kinds are one list, each with what it holds, and some kinds can be asked for`() async throws {
        let others = [
            Packet(from: 1_001, id: 60, rxTime: Self.start + 60, payload: Array("hello".utf8)),
            Packet(from: 1_001, id: 61, rxTime: Self.start + 61, port: Port.rangeTest, payload: Array("seq 1".utf8)),
            Packet(from: 1_001, id: 62, rxTime: Self.start + 62, port: Port.waypoint, payload: Packet.waypoint(5, "hut")),
            Packet(from: 1_001, to: 1_002, id: 63, rxTime: Self.start + 63, port: Port.traceroute, payload: Packet.route()),
            telemetry(64, kind: 3) { $0.float(1, 20) }, telemetry(65, kind: 15) { $0.varint(1, 1) },
        ]
        let ledger = try await ledger(of: [position(1_001, 58), user(1_001, 59), position(1_002, 70)] + others)
        let all = try ledger.timeline(of: 1_001)
        #expect(
            all.map(\.kind) == [
                "traceRoute", "waypoint", "sensor", "message", "nodeChange", "position", "unknownTelemetry", "telemetry",
            ])
        #expect(Set(all.map(\.kind)) == Set(Ledger.timelineKinds))
        let texts = all.compactMap { ($0 as? MessageRow)?.text }
        #expect(texts == ["hello"])
        let some = try ledger.timeline(
            of: 1_001, kinds: ["position", "message", "sensor"], RowQuery(limit: 2, newestFirst: false))
        #expect(some.map(\.kind) == ["position", "message"] && some.map(\.sequence) == [1, 4])
        #expect(try ledger.timeline(of: 1_001, RowQuery(limit: 3, offset: 1)).map(\.kind) == ["waypoint", "sensor", "message"])
        try await ledger.close()
    }
}
