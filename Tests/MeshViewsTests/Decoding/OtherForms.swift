import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import Testing

/// The JSON form of a packet beside its protobuf form, with the same id: which are of one packet, and what the rows are of.
struct OtherForms {
    private typealias Packet = MeshPacketBuilder

    private static let node: UInt32 = 0x1000_0001

    private func json(
        _ type: String, _ payload: String, to receiver: UInt32 = .max, at time: UInt32 = 1_780_000_000
    ) -> NewEvent {
        let ends = #""sender":"!00000012","timestamp":\#(time),"to":\#(receiver),"type":"\#(type)""#
        let line = #"{"channel":0,"from":268435457,"id":1,"payload":{\#(payload)},\#(ends)}"#
        return NewEvent(
            Array(line.utf8), encoding: PayloadEncoding(rawValue: CaptureForm.mqttJSON.rawValue), source: SourceID(rawValue: 1),
            reception: .unrecorded)
    }

    private func protobuf(
        _ port: UInt32, to receiver: UInt32 = .max, requestID: UInt32 = 0, at time: UInt32 = 1_780_000_001,
        _ write: (inout WireWriter) -> Void
    ) -> NewEvent {
        var writer = WireWriter()
        write(&writer)
        let packet = Packet(
            from: Self.node, to: receiver, id: 1, rxTime: time, port: port, payload: writer.bytes, requestID: requestID,
            gateway: "!00000011")
        return NewEvent(
            packet.envelope(), encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue),
            source: SourceID(rawValue: 1),
            reception: .unrecorded)
    }

    /// What the ledger has of the events, in both orders.
    private func inBothOrders(_ one: NewEvent, _ other: NewEvent, _ check: (Ledger) throws -> Void) async throws {
        for events in [[one, other], [other, one]] {
            let ledger = try await Ledger.temporary()
            _ = try await ledger.log.source(named: "msh/2/json/LongFast/!00000012")
            _ = try await ledger.log.append(events)
            try await ledger.catchUp()
            try check(ledger)
            let digests = try (ledger.maintenance.digest(of: "positions"), ledger.maintenance.digest(of: "telemetry"))
            try await ledger.maintenance.rebuild()
            let again = try (ledger.maintenance.digest(of: "positions"), ledger.maintenance.digest(of: "telemetry"))
            #expect(again == digests)
            try await ledger.close()
        }
    }

    @Test func `a packet in JSON is on the channel that the topic of its source names`() async throws {
        let ledger = try await Ledger.temporary()
        _ = try await ledger.log.source(named: "msh/2/json/Harbour/!00000012")
        _ = try await ledger.log.append([json("text", #""text":"hi""#)])
        try await ledger.catchUp()
        #expect(try ledger.messages().map(\.channel) == ["Harbour"])
        try await ledger.close()
    }

    @Test func `D4: a packet in protobuf with the id of one of another port in JSON is a packet of its own`() async throws {
        let position = protobuf(Port.position) {
            $0.fixed32(1, 500_000_000)
            $0.fixed32(2, 80_000_000)
        }
        try await inBothOrders(json("text", #""text":"hi""#), position) { (ledger) throws in
            #expect(try ledger.messages().map(\.text) == ["hi"])
            #expect(try ledger.positions(of: Self.node).map(\.latitudeE7) == [500_000_000])
            #expect(try ledger.packets().map(\.hasConflict) == [true, true])
        }
    }

    @Test func `metrics of another kind in protobuf take the place of those that came as JSON`() async throws {
        let environment = protobuf(Port.telemetry) { $0.message(3) { $0.float(1, 21) } }
        try await inBothOrders(json("telemetry", #""battery_level":80,"voltage":4.0"#), environment) { (ledger) throws in
            #expect(try ledger.telemetry(of: Self.node).map(\.kind) == [.environment])
            #expect(try ledger.packets().count == 1)
        }
    }

    @Test func `a position without coordinates in protobuf leaves no row of its JSON, and one with them makes a row`()
        async throws
    {
        let nowhere = protobuf(Port.position) { $0.varint(3, 100) }
        try await inBothOrders(json("position", #""latitude_i":500000000,"longitude_i":80000000"#), nowhere) { (ledger) throws in
            #expect(try ledger.positions(of: Self.node).isEmpty)
            #expect(try ledger.packets().count == 1)
        }
        let somewhere = protobuf(Port.position) {
            $0.fixed32(1, 500_000_000)
            $0.fixed32(2, 80_000_000)
        }
        try await inBothOrders(json("position", #""altitude":100"#), somewhere) { (ledger) throws in
            #expect(try ledger.positions(of: Self.node).map(\.latitudeE7) == [500_000_000])
            #expect(try ledger.packets().count == 1)
        }
    }

    @Test func `M20: a trace route in JSON is an answer, and one with the same answer in protobuf`() async throws {
        let asker: UInt32 = 0x2000_0002
        let answered = json(
            "traceroute", #""route":["A","R","B"],"snr_towards":[-3,4],"snr_back":[5.25],"route_back":[]"#, to: asker)
        let ledger = try await Ledger.temporary()
        _ = try await ledger.log.source(named: "msh/2/json/LongFast/!00000012")
        _ = try await ledger.log.append([answered])
        try await ledger.catchUp()
        let row = try #require(try ledger.traceRoutes().first)
        #expect((row.from, row.to, row.id, row.isAnswered, row.replyID) == (asker, Self.node, 1, true, 1))
        #expect(row.towards.map(\.node) == [asker, nil, Self.node] && row.towards.map(\.snr) == [nil, -3, 4])
        #expect(try ledger.links().map { [$0.hearer, $0.heard] } == [[asker, Self.node]])
        try await ledger.close()

        let direct = json(
            "traceroute", #""route":["A","B"],"snr_towards":[-3],"route_back":["B","A"],"snr_back":[5.25]"#, to: asker)
        let answer = protobuf(Port.traceroute, to: asker, requestID: 77) {
            $0.packedInt32(2, [-12])
            $0.packedInt32(4, [21])
        }
        try await inBothOrders(direct, answer) { (ledger) throws in
            #expect(try ledger.traceRoutes().map { [$0.from, $0.id, $0.to, $0.replyID] } == [[asker, 77, Self.node, 1]])
            let links = try ledger.links().sorted { $0.hearer < $1.hearer }
            #expect(links.map { [$0.hearer, $0.heard] } == [[Self.node, asker], [asker, Self.node]])
            #expect(links.map(\.snr) == [-3, 5.25])
        }
    }

    @Test func `the firmware of a model is the latest that was reported, whatever was reported without one since`() async throws {
        func user(_ time: UInt32, _ id: UInt32) -> NewEvent {
            var writer = WireWriter()
            writer.string(2, "Rover")
            writer.varint(5, 9)
            let packet = Packet(
                from: Self.node, id: id, rxTime: time, port: Port.nodeInfo, payload: writer.bytes, gateway: "!00000011")
            return NewEvent(
                packet.envelope(), encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue),
                source: SourceID(rawValue: 1), reception: .unrecorded)
        }
        let report = protobuf(Port.mapReport) {
            $0.string(1, "Rover")
            $0.varint(4, 9)
            $0.string(5, "2.7.1")
        }
        try await inBothOrders(report, user(1_780_000_500, 7)) { (ledger) throws in
            #expect(try ledger.hardwareRows().map(\.firmware) == ["2.7.1"])
        }
    }
}
