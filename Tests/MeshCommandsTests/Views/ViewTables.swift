import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// What the commands of the smaller views print, whole.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct ViewTables {
    private static func json(
        _ type: String, _ node: UInt32, _ id: Int, _ payload: String, gateway: String = "!0000abcd", rssi: Int = -60
    ) -> String {
        """
        {"from":\(node),"to":4294967295,"id":\(id),"channel":0,"type":"\(type)","timestamp":\(1_760_000_000 + id),"sender":"\(gateway)",\
        "rssi":\(rssi),"snr":5.5,"payload":\(payload)}
        """
    }

    private static let lines = [
        json("nodeinfo", 0x11, 1, #"{"id":"!11","longname":"Alpha","shortname":"AL","hardware":43,"role":2}"#),
        json("nodeinfo", 0x11, 2, #"{"id":"!11","longname":"Beta","shortname":"BE","hardware":9,"role":2}"#),
        json("detection", 0x22, 3, #"{"text":"Gate opened"}"#, rssi: -90),
        json("detection", 0x22, 3, #"{"text":"Gate opened"}"#, gateway: "!0000abce", rssi: -95),
        json("paxcounter", 0x22, 4, #"{"wifi_count":12,"ble_count":3,"uptime":900}"#),
    ]

    private static func trimmed(_ line: Substring) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return String(line)
    }

    private func table(_ tool: Tool, _ arguments: String...) throws -> [String] {
        let outcome = try tool.start(arguments).wait()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        return outcome.lines.map { Self.trimmed($0) }
    }

    @Test func `gateways, sensors, node history, hardware and channels print what is in them`() throws {
        let tool = try Tool(holding: Self.lines)
        #expect(
            try table(tool, "gateways") == [
                "gateway    name  last heard            receptions  packets  nodes  own  unreadable  lowest snr dB  highest snr dB  lowest rssi dBm  highest rssi dBm  sources",
                "!0000abcd        2025-10-09T08:53:24Z           4        4      2    0           0            5.5             5.5              -90               -60  file:messages.jsonl",
                "!0000abce        2025-10-09T08:53:23Z           1        1      1    0           0            5.5             5.5              -95               -95  file:messages.jsonl",
            ])
        #expect(
            try table(tool, "gateways", "--of", "!22") == [
                "gateway    node       last heard            first heard           receptions  highest snr dB",
                "!0000abcd  !00000022  2025-10-09T08:53:24Z  2025-10-09T08:53:23Z           2             5.5",
                "!0000abce  !00000022  2025-10-09T08:53:23Z  2025-10-09T08:53:23Z           1             5.5",
            ])
        #expect(
            try table(tool, "sensors") == [
                "time                  node       kind        gateway    snr dB  rssi dBm  hops  content",
                "2025-10-09T08:53:24Z  !00000022  paxcounter  !0000abcd     5.5       -60        wifi=12 ble=3 uptime=900",
                "2025-10-09T08:53:23Z  !00000022  detection   !0000abcd     5.5       -90        Gate opened",
            ])
        #expect(
            try table(tool, "nodehistory") == [
                "time                  node       changes                             short  name   hardware   role    firmware  key of  known from  sequence",
                "2025-10-09T08:53:22Z  !00000011  long_name short_name hardware       BE     Beta   RAK4631    ROUTER                    nodeInfo           2",
                "2025-10-09T08:53:21Z  !00000011  long_name short_name hardware role  AL     Alpha  HELTEC_V3  ROUTER                    nodeInfo           1",
            ])
        #expect(
            try table(tool, "hardware") == [
                "model      number  nodes  former nodes  targets  firmware  first heard           last heard",
                "RAK4631         9  1      0                                2025-10-09T08:53:22Z  2025-10-09T08:53:22Z",
                "HELTEC_V3      43  0      1                                2025-10-09T08:53:21Z  2025-10-09T08:53:21Z",
            ])
        #expect(
            try table(tool, "channels") == [
                "channel  hash  readable  key  packets  receptions  first heard           last heard",
                "index 0        true                 4           5  2025-10-09T08:53:21Z  2025-10-09T08:53:24Z",
            ])
        let sensor = try tool.run("sensors", "--kind", "paxcounter", "--format", "jsonl").output
        #expect(sensor.contains(#""content":{"wifi":12,"ble":3,"uptime":900},"#))
        let models = try tool.run("hardware", "--model", "HELTEC_V3", "--format", "jsonl").output
        #expect(models.contains(#""model":"HELTEC_V3","number":43,"nodes":[],"former_nodes":["!00000011"],"#))
    }

    @Test func `map reports and radios print what is in them`() throws {
        let tool = try Tool()
        try tool.run("init")
        var report = MapReport()
        (report.longName, report.shortName, report.firmwareVersion, report.hardwareModel) = ("Hill", "HI", "2.7.8", 43)
        (report.region, report.modemPreset, report.onlineLocalNodes, report.positionPrecision) = (3, 4, 17, 14)
        (report.latitudeE7, report.longitudeE7) = (501_000_000, -12_000_000)
        var envelope = WireWriter()
        envelope.message(1) { packet in
            packet.fixed32(1, 0x11)
            packet.fixed32(2, .max)
            packet.message(4) { data in
                data.varint(1, UInt64(Port.mapReport))
                data.message(2) { report.encode(to: &$0) }
            }
            packet.fixed32(7, 1_760_000_000)
        }
        envelope.string(2, "LongFast")
        envelope.string(3, "!00000011")
        try tool.run("import", tool.write([Data(envelope.bytes).base64EncodedString()], to: "map.base64"))
        #expect(
            try table(tool, "mapreports") == [
                "node       short  name  reported              hardware   role    firmware  region  preset       online nodes  latitude  longitude  bits",
                "!00000011  HI     Hill  2025-10-09T08:53:20Z  HELTEC_V3  CLIENT  2.7.8     EU_868  MEDIUM_FAST            17      50.1       -1.2    14",
            ])
        var stream: [UInt8] = []
        func add(_ variant: UInt32, _ body: (inout WireWriter) -> Void) {
            var frame = WireWriter()
            frame.message(variant, body)
            stream += [0x94, 0xc3, 0, UInt8(frame.bytes.count)] + frame.bytes
        }
        add(3) { info in
            info.varint(1, 0x11)
            info.string(13, "tbeam")
        }
        add(13) { metadata in
            metadata.string(1, "2.7.8")
            metadata.varint(9, 4)
        }
        add(5) { config in config.message(6) { $0.varint(7, 3) } }
        let file = tool.folder.file("radio.bin")
        try Data(stream).write(to: file)
        try tool.run("import", file.path)
        let rows = try tool.run("radios", "--format", "jsonl").objects
        #expect(rows.compactMap { $0["part"] as? String } == ["config.lora", "metadata", "myInfo"])
        #expect(rows.allSatisfy { $0["node"] as? String == "!00000011" && $0["source"] as? String == "file:radio.bin" })
        #expect((rows[0]["content"] as? [String: [String: String]])?["lora"]?["region"] == "EU_868")
        #expect(try tool.run("radios", "--source", "radio").lines.count == 4)
        #expect(try tool.run("radios", "--source", "nowhere").status != 0)
        #expect(try tool.run("hardware", "--model", "4", "--format", "csv").output.contains("tbeam"))
    }

    @Test func `D13: the track of a node has distances, speeds and who heard each position; neighbors have both ways in a row`()
        throws
    {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "Rover", short: "RO"),
            Line.position(0x11, latitudeE7: 500_000_000, longitudeE7: 80_000_000, time: 1_760_000_100),
            Line.position(0x11, latitudeE7: 500_010_000, longitudeE7: 80_000_000, time: 1_760_000_200),
            Line.position(0x11, latitudeE7: 500_010_000, longitudeE7: 80_020_000, time: 1_760_000_250),
        ])
        #expect(
            try table(tool, "positions", "track", "--node", "Rover") == [
                "time                  latitude  longitude  altitude m  within m  distance m  seconds  speed km/h  course °  gateway    snr dB",
                "2025-10-09T08:55:00Z        50          8         120                                                       !0000abcd     5.5",
                "2025-10-09T08:56:40Z    50.001          8         120                 111.2      100           4            !0000abcd     5.5",
                "2025-10-09T08:57:30Z    50.001      8.002         120                 142.9       50        10.3            !0000abcd     5.5",
            ])
        #expect(try tool.run("positions", "--node", "Rover", "--format", "jsonl").objects.count == 3)
        let heard = Line.position(0x11, latitudeE7: 500_000_000, longitudeE7: 80_000_000, time: 1_760_000_100)
        try tool.run("import", tool.write([heard.replacing("!0000abcd", with: "!0000abce")], to: "more.jsonl"))
        let steps = try tool.run("positions", "track", "--node", "Rover", "--heard-by", "--format", "jsonl").objects
        let gateways = steps.map { ($0["heard_by"] as? [[String: Any]])?.compactMap { $0["gateway"] as? String } ?? [] }
        #expect(gateways == [["!0000abcd", "!0000abce"], ["!0000abcd"], ["!0000abcd"]])
        let mesh = try Tool()
        try mesh.run("init")
        try mesh.run("simulate", "--seed", "4", "--nodes", "20", "--packets", "2000")
        let link = try #require(try mesh.run("links", "--format", "jsonl").objects.first?["hearer"] as? String)
        let links = try mesh.run("links", "--node", link, "--format", "jsonl").objects
        let others = Set(links.compactMap { $0["hearer"] as? String } + links.compactMap { $0["heard"] as? String }).subtracting([
            link
        ])
        let neighbors = try mesh.run("neighbors", link, "--format", "jsonl").objects
        #expect(Set(neighbors.compactMap { $0["neighbor"] as? String }) == others && neighbors.count == others.count)
        let samples = neighbors.map {
            (($0["hears_samples"] as? [Any])?.count ?? 0) + (($0["heard_samples"] as? [Any])?.count ?? 0)
        }
        #expect(samples.allSatisfy { $0 > 0 })
    }
}
