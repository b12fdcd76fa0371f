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

    private static let ports: [String: UInt32] = ["text": 1, "position": 3, "nodeinfo": 4, "paxcounter": 34, "telemetry": 67]
    /// What has another name on the wire.
    private static let wireNames = ["longname": "long_name", "shortname": "short_name", "hardware": "hw_model"]

    @Test(.enabled(if: SharedFolder.exists, "needs ../shared"))
    func `all captured messages give what they say, as lines and as payloads`() throws {
        let text = try String(contentsOf: SharedFolder.file("captures/json-messages.jsonl"), encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count == 13)
        for line in lines {
            let outer = try object(line)
            let inner = try #require(outer["payload"] as? String)
            let topic = try #require(Topic(parsing: outer["topic"] as? String ?? ""))
            let message = try object(inner)
            // One has no type, as of a firmware before 2.
            let type = message["type"] as? String ?? "nodeinfo"
            for (form, decoded) in [("line", decode(line)), ("payload", decode(inner))] {
                let packet = decoded.packet
                #expect(packet.isReadable && packet.port == Self.ports[type], "\(form) \(line)")
                #expect(packet.from == message["from"] as? UInt32 && packet.gateway == topic.gateway)
                #expect(packet.to == (message["to"] as? Int).map(UInt32.init(truncatingIfNeeded:)))
                #expect(decoded.channel == (form == "line" ? topic.channel : ""))
                try expect(decoded.payload, says: message["payload"], type)
            }
        }
    }

    @Test func `heights above the ellipsoid, and below it, are those of the message`() throws {
        let message =
            #"{"latitude_i":1,"longitude_i":2,"altitude":3,"altitude_hae":-12,"altitude_geoidal_separation":47}"#
        let read = try object(payload("position", message).payload)
        let heights = ["altitude", "altitude_hae", "altitude_geoidal_separation"].map { read[$0] as? Int }
        #expect(heights == [3, -12, 47])
    }

    @Test(arguments: [("true", true), ("1", true), ("false", false), ("0", false)])
    func `a yes or no is a word or a number`(text: String, isLicensed: Bool) {
        let payload = payload("nodeinfo", #"{"longname":"L","is_licensed":\#(text)}"#).payload
        #expect(payload.contains("is_licensed") == isLicensed && payload.contains("false") == false, "\(payload)")
    }

    @Test func `what a message does not say of its packet is 0, and its receiver everybody`() {
        let packet = decode(#"{"from":1,"payload":{"text":"x"},"type":"text"}"#).packet
        #expect((packet.from, packet.to, packet.port) == (1, NodeID.broadcast, Port.text))
        #expect((packet.id, packet.channel, packet.rxTime, packet.gateway) == (0, 0, 0, 0))
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    /// Expects that each member of a message's payload is in the decoded one, with its value, and nothing else is.
    private func expect(_ payload: String, says message: Any?, _ type: String) throws {
        let members = message as? [String: Any] ?? ["text": message ?? ""]
        if type == "text" { return #expect(plain(members["text"] ?? "") == payload) }
        var found = try object(payload)
        if type == "telemetry" { found = try #require(found["device_metrics"] as? [String: Any]) }
        for (name, value) in members {
            let read = found.removeValue(forKey: Self.wireNames[name] ?? name)
            let said = name == "hardware" ? FieldTable.hardwareName(value as? UInt32 ?? 0) : plain(value)
            // On the wire, 0 is what a field has that is not there.
            #expect(read.map(plain) ?? "0" == said, "\(name) in \(payload)")
        }
        #expect(found.isEmpty, "\(found) is not in \(members)")
    }

    /// Numbers as precisely as both forms have them; text without the zeros that fill its place in the firmware.
    private func plain(_ value: Any) -> String {
        if let number = value as? Int { return "\(number)" }
        if let number = value as? Double { return "\(Float(number))" }
        return "\(value)".replacingOccurrences(of: "\0", with: "")
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
        (
            "nodeinfo", #"{"id":"!00000005","longname":"Mill dam ","shortname":"MD","hardware":43,"role":2}"#, 4,
            #"{"id":"!00000005","long_name":"Mill dam ","short_name":"MD","hw_model":"HELTEC_V3","role":"ROUTER"}"#
        ),
        (
            "waypoint", #"{"id":-1,"locked_to":-2,"latitude_i":-8,"longitude_i":9,"expire":-6,"icon":-7}"#, 8,
            #"{"id":4294967295,"latitude_i":-8,"longitude_i":9,"locked_to":4294967294}"#
        ),
        (
            "position", #"{"latitude_i":1,"longitude_i":2,"sats_in_view":-1,"PDOP":-1,"ground_speed":-3,"time":-4}"#, 3,
            #"{"latitude_i":1,"longitude_i":2}"#
        ),
        ("paxcounter", #"{"wifi_count":-3,"ble_count":4294967296,"uptime":4294967295}"#, 34, #"{"uptime":4294967295}"#),
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

    @Test func `a trace route is an answer, whose own id stands for that of the question`() {
        #expect(payload("traceroute", #"{"route":["A","B"]}"#).packet.requestID == 2)
        #expect(payload("", #"{"route":["A","B"]}"#).packet.requestID == 2)
        #expect(payload("position", "{}").packet.requestID == 0)
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
