import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// Texts that are made to be costly: marks in alternating order, which some work on Unicode sorts in the square of their number.
struct LinearWork {
    enum Place: String, CaseIterable, Sendable {
        case longName, shortName, mapReport, message, waypoint, channelName, gateway, jsonText, jsonName, jsonMember, jsonType,
            detection
        case radioChannel, radioTarget, hostMetrics
    }

    private static func marks(_ bytes: Int) -> String {
        var text = String.UnicodeScalarView()
        // Of two classes each, and only half of them with a fold that is at hand.
        let kinds: [Unicode.Scalar] = ["\u{301}", "\u{323}", "\u{592}", "\u{591}"]
        for index in 0..<bytes / 2 { text.append(kinds[index % kinds.count]) }
        return String(text)
    }

    private static func event(_ place: Place, _ text: String, _ id: UInt32, _ source: SourceID) -> NewEvent {
        var packet = MeshPacketBuilder(from: 0x1000_0000 + id, id: id)
        var payload = WireWriter()
        switch place {
        case .longName: (packet.port, packet.payload) = (Port.nodeInfo, MeshPacketBuilder.user("a" + text))
        case .shortName:
            payload.string(3, text)
            packet.port = Port.nodeInfo
        case .mapReport:
            (packet.port, packet.payload) = (Port.mapReport, MeshPacketBuilder.mapReport(text) { $0.firmwareVersion = text })
        case .message: payload.raw(Array(("o" + text).utf8))
        case .detection:
            packet.port = Port.detectionSensor
            payload.raw(Array(text.utf8))
        case .waypoint:
            packet.port = Port.waypoint
            payload.varint(1, UInt64(id))
            payload.string(6, text)
            payload.string(7, text)
        case .channelName: packet.channel = text
        case .gateway: packet.gateway = "!" + text
        case .hostMetrics:
            packet.port = Port.telemetry
            payload.message(8) { $0.string(9, text) }
        case .jsonText: return json(#"{"from":\#(id),"type":"text","payload":{"text":"\#(text)"}}"#, source)
        case .jsonName:
            return json(#"{"from":\#(id),"type":"nodeinfo","payload":{"longname":"x\#(text)","hardware":"T\#(text)"}}"#, source)
        case .jsonMember: return json(#"{"from":\#(id),"from\#(text)":2,"payload":{"text\#(text)":1,"longname":"x"}}"#, source)
        case .jsonType: return json(#"{"from":\#(id),"type":"text\#(text)","payload":"x"}"#, source)
        case .radioChannel:
            var frame = ChannelFrame()
            (frame.name, frame.role, frame.index) = (text, 2, Int32(id % 8))
            payload.message(10) { frame.encode(to: &$0) }
            return NewEvent(payload.bytes, encoding: .fromRadio, source: source)
        case .radioTarget:
            payload.message(3) { info in
                info.varint(1, UInt64(id))
                info.string(13, text)
            }
            return NewEvent(payload.bytes, encoding: .fromRadio, source: source)
        }
        if packet.payload.isEmpty { packet.payload = payload.bytes }
        return packet.event(source)
    }

    private static func json(_ text: String, _ source: SourceID) -> NewEvent {
        NewEvent(Array(text.utf8), encoding: .mqttJSON, source: source)
    }

    /// The time that a dozen such events take, with all views and the index of words.
    private static func cost(_ place: Place, bytes: Int) async throws -> Duration {
        let text = marks(bytes)
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "mqtt://localhost msh/2/json/LongFast/!36072603")
        let events = (0..<12).map { event(place, text, 100 + $0, source) }
        let start = ContinuousClock.now
        _ = try await ledger.log.append(events)
        try await ledger.catchUp()
        let time = ContinuousClock.now - start
        try await ledger.close()
        return time
    }

    /// Eight times the bytes: work in the square of them would cost sixty-four times as much. What costs less than a tenth of a second for all twelve
    /// proves itself, however the machine is loaded.
    @Test(arguments: Place.allCases) func `what a text costs grows with its bytes, not with their square`(place: Place)
        async throws
    {
        var (short, long) = (Duration.seconds(1_000), Duration.seconds(1_000))
        for _ in 0..<3 {
            short = min(short, try await Self.cost(place, bytes: 8 * 1_024))
            long = min(long, try await Self.cost(place, bytes: 64 * 1_024))
            if long < .milliseconds(100) || long / short < 24 { break }
        }
        #expect(long < .milliseconds(100) || long / short < 24, "\(place): \(short) for 8 KB, \(long) for 64 KB")
    }

    @Test func `names are cut at 64 scalars before anything is done with them`() async throws {
        let long = String(repeating: "é", count: 80) + "end"
        let ledger = try await ledger(of: [
            MeshPacketBuilder(from: 1_001, id: 1, port: Port.nodeInfo, payload: MeshPacketBuilder.user(long)),
            MeshPacketBuilder(
                from: 1_002, id: 2, port: Port.nodeInfo, payload: MeshPacketBuilder.user(String(repeating: "x", count: 64))),
        ])
        let names = try ledger.nodes().sorted { $0.number < $1.number }.map(\.longName)
        #expect(names == [String(repeating: "é", count: 64), String(repeating: "x", count: 64)])
        try await ledger.close()
    }
}
