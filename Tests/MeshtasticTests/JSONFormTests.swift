import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct JSONFormTests {
    /// A decoded message: the packet and its payload as the dissector prints it.
    private struct Decoded {
        var packet: DecodedPacket
        var payload: String
        var channel: String
    }

    private func decode(_ text: String) -> Decoded {
        var batch = PacketBatch()
        PacketOpener(keyring: .standard).decode(Array(text.utf8).rawSpan, form: .mqttJSON, into: &batch)
        guard let packet = batch.packets.first, batch.packets.count == 1 else {
            Issue.record("not one packet")
            return Decoded(packet: DecodedPacket(), payload: "", channel: "")
        }
        let bytes = batch.payload(of: packet).asArray
        let message = FieldTable.messageName(ofPort: packet.port)
        let payload =
            message.map { Dissector.dissect(bytes.rawSpan, message: $0).json.description }
            ?? String(decoding: bytes, as: UTF8.self)
        return Decoded(packet: packet, payload: payload, channel: batch.string(packet.channelID))
    }

    private func payload(_ type: String, _ payload: String) -> Decoded {
        decode(
            #"{"channel":0,"from":1,"id":2,"payload":\#(payload),"sender":"!00000003","timestamp":4,"to":5,"type":"\#(type)"}"#)
    }

    private static let captured: [(port: UInt32, from: UInt32, to: UInt32, payload: String)] = [
        (
            67, 3_935_274_544, .max,
            #"{"device_metrics":{"battery_level":101,"voltage":-0.001,"channel_utilization":1.5033333,"air_util_tx":0.06336111,"uptime_seconds":43266}}"#
        ),
        (3, 3_935_274_544, .max, #"{"latitude_i":518495880,"longitude_i":195866210,"time":1749534914,"precision_bits":32}"#),
        (
            67, 3_818_489_127, .max,
            #"{"device_metrics":{"battery_level":94,"voltage":4.145,"channel_utilization":2.4416666,"air_util_tx":0.017666668}}"#
        ),
        (1, 3_818_489_127, .max, "75.56|62.2|0.0|4.27"),
        (
            67, 4_201_002_620, .max,
            #"{"device_metrics":{"battery_level":91,"voltage":4.069,"channel_utilization":5.83,"air_util_tx":3.3707223}}"#
        ),
        (
            67, 2_102_560_276, .max,
            #"{"device_metrics":{"battery_level":101,"voltage":0.0,"channel_utilization":2.71,"air_util_tx":0.4384722,"uptime_seconds":1263}}"#
        ),
        (34, 4_201_162_368, .max, #"{"uptime":157808}"#),
        (
            4, 3_663_958_104, 2_086_296_284,
            #"{"id":"!da639058","long_name":"SMRN-SS-Ca sacvalleymesh.com","short_name":"JTRC","hw_model":"HELTEC_V3"}"#
        ),
        (
            4, 4_201_166_456, .max,
            #"{"id":"!fa68b678","long_name":"P2000 Portal ","short_name":"P200","hw_model":"HELTEC_WSL_V3"}"#
        ),
        (1, 4_204_317_948, .max, "1233"),
        (1, 1_128_041_132, .max, "This is my test message"),
        (4, 2_733_223_640, .max, #"{"id":"!a2e9aed8","long_name":"CHE Station","short_name":"cheS","hw_model":"STATION_G2"}"#),
        (4, 2_130_636_288, .max, #"{"id":"!7efeee00","long_name":"base0","short_name":"BA0","hw_model":"HELTEC_V2_1"}"#),
    ]

    @Test(.enabled(if: SharedFolder.exists, "needs ../shared"))
    func `all captured messages give what they say, as lines and as payloads`() throws {
        let text = try String(contentsOf: SharedFolder.file("captures/json-messages.jsonl"), encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count == Self.captured.count)
        for (line, expected) in zip(lines, Self.captured) {
            let value = try JSONValue(parsing: Array(line.utf8).rawSpan)
            let inner = try #require(value["payload"]?.asString)
            let topic = try #require(Topic(parsing: value["topic"]?.asString ?? ""))
            for (form, decoded) in [("line", decode(line)), ("payload", decode(inner))] {
                let packet = decoded.packet
                #expect(packet.isReadable && packet.port == expected.port, "\(form) \(line)")
                #expect(packet.from == expected.from && packet.to == expected.to && packet.gateway == topic.gateway)
                #expect(decoded.payload == expected.payload)
                #expect(decoded.channel == (form == "line" ? topic.channel : ""))
            }
        }
    }

    @Test func `the header is read`() {
        let decoded = decode(
            #"{"channel":7,"from":305419896,"hop_start":7,"hops_away":2,"id":9,"payload":{"text":"x"},"rssi":-80,"snr":-5.25,"sender":"!0000000a","timestamp":1700000000,"to":-1,"type":"text"}"#
        )
        let packet = decoded.packet
        #expect(packet.hopStart == 7 && packet.hopLimit == 5 && packet.hopsAway == 2 && packet.channel == 7 && packet.id == 9)
        #expect(packet.rxRSSI == -80 && packet.hasRSSI && packet.rxSNR == -5.25 && packet.rxTime == 1_700_000_000)
        #expect(packet.gateway == 10 && packet.opening == .decoded && packet.hasPacket && packet.isBroadcast)
    }

    @Test func `hops are known where the message says so`() {
        func hops(_ members: String) -> UInt8? {
            decode(#"{"from":1,\#(members)"payload":{"text":"x"},"type":"text"}"#).packet.hopsAway
        }
        #expect(hops("") == nil && hops(#""hops_away":0,"#) == 0 && hops(#""hops_away":2,"#) == 2)
        #expect(hops(#""hops_away":1,"hop_start":3,"#) == 1 && hops(#""hops_away":0,"hop_start":3,"#) == 0)
        #expect(hops(#""hops_away":-1,"hop_start":300,"#) == nil)
    }

    @Test(arguments: [
        (
            #"{"temperature":21.5,"relative_humidity":40}"#,
            #"{"environment_metrics":{"temperature":21.5,"relative_humidity":40.0}}"#
        ),
        (#"{"pm10":1,"pm25":0,"co2":400}"#, #"{"air_quality_metrics":{"pm10_standard":1,"pm25_standard":0,"co2":400}}"#),
        (#"{"voltage_ch1":3.5,"current_ch3":-1}"#, #"{"power_metrics":{"ch1_voltage":3.5,"ch3_current":-1.0}}"#),
        (#"{"voltage":3.5,"current":12}"#, #"{"environment_metrics":{"voltage":3.5,"current":12.0}}"#),
        (#"{"heart_bpm":60,"spO2":99}"#, #"{"health_metrics":{"heart_bpm":60,"spO2":99}}"#),
        (
            #"{"num_packets_tx":5,"num_online_nodes":2,"noise_floor":-90}"#,
            #"{"local_stats":{"num_packets_tx":5,"num_online_nodes":2,"noise_floor":-90}}"#
        ),
        (#"{"battery_level":1e999,"voltage":1e999,"uptime_seconds":99999999999}"#, #"{"device_metrics":{}}"#),
    ])
    func `telemetry goes to the kind that its names tell`(text: String, expected: String) {
        let decoded = payload("telemetry", text)
        #expect(decoded.packet.port == 67 && decoded.packet.isReadable && decoded.payload == expected)
    }

    @Test(arguments: [
        (
            "position", #"{"latitude_i":0,"longitude_i":-5,"altitude":-3,"sats_in_view":7,"PDOP":120,"ground_track":9000}"#,
            UInt32(3),
            #"{"latitude_i":0,"longitude_i":-5,"altitude":-3,"PDOP":120,"ground_track":9000,"sats_in_view":7}"#
        ),
        (
            "waypoint", #"{"id":5,"name":"a","description":"b","expire":6,"locked_to":7,"latitude_i":8,"longitude_i":9}"#, 8,
            #"{"id":5,"latitude_i":8,"longitude_i":9,"expire":6,"locked_to":7,"name":"a","description":"b"}"#
        ),
        (
            "neighborinfo", #"{"node_id":5,"neighbors_count":2,"neighbors":[{"node_id":6,"snr":-3},{"node_id":7,"snr":4}]}"#, 71,
            #"{"node_id":5,"neighbors":[{"node_id":6,"snr":-3.0},{"node_id":7,"snr":4.0}]}"#
        ),
        (
            "traceroute",
            #"{"route":["A","B","!0000000c","D"],"snr_towards":[5.25,-3,null],"route_back":["D","A"],"snr_back":[1e999]}"#, 70,
            #"{"route":[4294967295,12],"snr_towards":[21,-12,-128],"snr_back":[-128]}"#
        ),
        ("detection", #"{"text":"door open"}"#, 10, "door open"),
        ("paxcounter", #"{"wifi_count":3,"ble_count":4,"uptime":5}"#, 34, #"{"wifi":3,"ble":4,"uptime":5}"#),
        (
            "gpios_read_reply", #"{"gpio_value":4294967296,"gpio_mask":3}"#, 2,
            #"{"type":"READ_GPIOS_REPLY","gpio_mask":"3","gpio_value":"4294967296"}"#
        ),
        ("text", #""quoted""#, 1, "quoted"), ("text", "12.50", 1, "12.50"), ("text", #"{"a":[1,2]}"#, 1, #"{"a":[1,2]}"#),
        ("text", "null", 1, "null"), ("text", "true", 1, "true"),
    ])
    func `each type becomes its port's payload`(type: String, text: String, port: UInt32, expected: String) {
        let decoded = payload(type, text)
        #expect(decoded.packet.port == port && decoded.packet.isReadable && decoded.payload == expected)
    }

    @Test func `a missing type is inferred`() {
        for (type, text, port) in [
            ("", #"{"text":"x"}"#, UInt32(1)), ("", #"{"latitude_i":1}"#, 3), ("", #"{"latitude_i":1,"name":"x"}"#, 8),
            ("", #"{"neighbors":[]}"#, 71),
            ("", #"{"route":[]}"#, 70), ("", #"{"wifi_count":1}"#, 34), ("", #"{"temperature":1}"#, 67),
            ("", #"{"gpio_value":1}"#, 2),
        ] { #expect(payload(type, text).packet.port == port) }
    }

    @Test func `commands, other ports and empty messages are packets without content`() {
        for decoded in [payload("sendtext", #""hi""#), payload("", "{}"), decode(#"{"from":1,"type":""}"#)] {
            #expect(decoded.packet.opening == .empty && decoded.packet.failure == nil && decoded.packet.from == 1)
        }
    }

    @Test(arguments: ["", "online", "{", "[]", "1", #"{"to":1}"#, #"{"from":1e999,"payload":{}}"#, #"{"from":{},"payload":{}}"#])
    func `what is no message says why`(text: String) {
        let packet = decode(text).packet
        #expect(packet.opening == .invalid && packet.failure?.kind == .malformedJSON && !packet.hasPacket)
    }

    @Test func `a payload of another shape than its type is a broken payload`() {
        for type in ["position", "nodeinfo", "telemetry", "traceroute"] {
            #expect(payload(type, "5").packet.failure?.kind == .malformedPayload)
        }
    }

    @Test func `the dissector shows the packet that a message becomes`() {
        let text = Array(#"{"from":1,"id":2,"payload":{"text":"hallo"},"sender":"!00000003","to":-1,"type":"text"}"#.utf8)
        let event = Dissector.dissectEvent(form: .mqttJSON, bytes: text.rawSpan, keyring: .standard)
        #expect(event.json["message"]?["packet"]?["decoded"]?["payload@content"]?.asString == "hallo")
        #expect(event.json["message"]?["gateway_id"]?.asString == "!00000003")
    }
}
