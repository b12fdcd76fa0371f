import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing
import ViewQuery

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct ExportTests {
    private static let lines = [
        Line.node(0x11, long: "A & <B>", short: "AB"), Line.text("hello", from: 0x11),
        Line.position(0x11, latitudeE7: 501_234_567, longitudeE7: -12_345_678, time: 1_760_000_400),
        Line.position(0x11, latitudeE7: 501_234_600, longitudeE7: -12_345_600, time: 1_760_000_500),
    ]

    @Test func `exported events can be imported, and are the same events then`() throws {
        let tool = try Tool(holding: Self.lines)
        let first = try tool.run("export", "events").output
        let copy = try Tool()
        try copy.run("init")
        try copy.run("import", copy.write([first], to: "export.jsonl"))
        let second = try copy.run("export", "events")
        func facts(_ text: String) -> [Substring] {
            text.split(separator: "\n").map { $0[($0.range(of: "\"reception\"")?.lowerBound ?? $0.startIndex)...] }
        }
        #expect(facts(first).count == 4)
        #expect(facts(first).map { $0.suffix(60) } == facts(second.output).map { $0.suffix(60) })
    }

    @Test func `each file of all tables names its own`() throws {
        let tool = try Tool(holding: Self.lines)
        let folder = tool.folder.file("tables").path
        #expect(try tool.run("export", "all", "--format", "arrow", "-o", folder).status == 0)
        for (file, name) in [("nodes", "nodes"), ("packets", "packets"), ("telemetry_airQuality", "telemetry_air_quality")] {
            let bytes = try #require(FileManager.default.contents(atPath: "\(folder)/\(file).arrow"))
            let named = Data([UInt8(name.utf8.count), 0, 0, 0] + Array(name.utf8) + [0])
            #expect(bytes.range(of: named) != nil && bytes.range(of: Data("\u{3}\0\0\0all\0".utf8)) == nil, "\(file)")
        }
    }

    @Test func `GeoJSON and GPX hold the track`() throws {
        let tool = try Tool(holding: Self.lines)
        let data = Data(try tool.run("export", "positions", "--format", "geojson").output.utf8)
        let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let features = try #require(document["features"] as? [[String: Any]])
        let places = features.compactMap { ($0["geometry"] as? [String: Any])?["coordinates"] as? [Double] }
        #expect(places == [[-1.2345678, 50.1234567, 120], [-1.23456, 50.12346, 120]])

        let gpx = try tool.run("export", "positions", "--format", "gpx").output
        #expect(gpx.contains("<name>A &amp; &lt;B&gt;</name>"))
        #expect(gpx.components(separatedBy: "<trkpt ").count == 3)
        #expect(gpx.contains("lat=\"50.1234567\" lon=\"-1.2345678\""))
    }

    @Test func `GPX has the 180th meridian at -180, as its schema asks`() throws {
        let tool = try Tool(
            holding: [1_800_000_000, -1_800_000_000, 1_799_999_999].enumerated().map { index, longitude in
                Line.position(0x11, latitudeE7: 10_000_000, longitudeE7: longitude, time: 1_760_000_400 + index)
            })
        let gpx = try tool.run("export", "positions", "--oldest-first", "--format", "gpx").output
        let longitudes = gpx.components(separatedBy: "lon=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(longitudes == ["-180.0", "-180.0", "179.9999999"])
    }

    @Test func `D15: places are exported no more exact than was asked for, and without height`() throws {
        let tool = try Tool(holding: Self.lines)
        // The middle of a square of 2^18 ten-millionths of a degree, and of one of 2^17.
        func middle(_ degreesE7: Int, _ bits: Int) -> Double {
            let side = 1 << (32 - bits)
            let lower = Int((Double(degreesE7) / Double(side)).rounded(.down)) * side
            return Double(lower + side / 2) / 1e7
        }
        for (asked, bits) in [("14", 14), ("1km", 14), ("700m", 15), ("32", 32)] {
            let whole = bits == 32
            let place = whole ? [50.1234567, -1.2345678] : [middle(501_234_567, bits), middle(-12_345_678, bits)]
            for row in try tool.run("export", "positions", "--precision", asked, "--limit", "1").objects {
                #expect([row["latitude"] as? Double, row["longitude"] as? Double] == place, "\(asked)")
                #expect((row["altitude"] as? Int == nil) != whole && (whole || row["precision_bits"] as? Int == bits))
            }
            for format in ["csv", "json", "jsonl", "geojson", "gpx", "kml"] {
                let text = try tool.run("export", "positions", "--precision", asked, "--format", format).output
                let heights = ["\"altitude\":120", ",120,", ",120]", "<ele>120<", ",120<"]
                #expect(text.contains("50.1234567") == whole, "\(asked) \(format): \(text)")
                #expect(heights.contains { text.contains($0) } == whole, "\(asked) \(format): \(text)")
            }
        }
        #expect(
            try tool.run(
                "import",
                tool.write(
                    [Line.position(0x12, latitudeE7: 900_000_000, longitudeE7: 1_800_000_000, time: 1_760_000_600)], to: "pole")
            ).status == 0)
        for bits in 1...31 {
            let row = try #require(
                try tool.run("export", "positions", "--node", "!00000012", "--precision", "\(bits)").objects.first)
            #expect((row["latitude"] as? Double ?? 91) <= 90 && (row["longitude"] as? Double ?? 181) <= 180)
        }
        for refused in [
            ["events", "--precision", "14"], ["nodes", "--precision", "14"], ["positions", "--precision", "33"],
            ["positions", "--precision", "0"], ["x.recording", "--format", "ledger", "--precision", "14"],
        ] {
            #expect(try tool.start(["export"] + refused).wait().status == 64, "\(refused)")
        }
    }

    @Test func `waypoints and trace routes are GeoJSON, too, a line for each way with two known places`() throws {
        let tool = try Tool()
        try tool.run("init")
        #expect(try tool.run("simulate", "--seed", "4", "--nodes", "20", "--packets", "3000").status == 0)
        func features(_ subject: String) throws -> [[String: Any]] {
            let data = Data(try tool.run("export", subject, "--format", "geojson").output.utf8)
            let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(document["type"] as? String == "FeatureCollection")
            return try #require(document["features"] as? [[String: Any]])
        }
        func type(_ feature: [String: Any]) -> String? { (feature["geometry"] as? [String: Any])?["type"] as? String }
        let points = try features("waypoints")
        let placed = try tool.run("export", "waypoints").objects.filter { $0["latitude"] is Double }
        #expect(!points.isEmpty && points.count == placed.count && points.allSatisfy { type($0) == "Point" })
        let lines = try features("traceroutes")
        #expect(!lines.isEmpty && lines.allSatisfy { type($0) == "LineString" })
        let hops = try tool.run("export", "traceroutes").objects.flatMap { ($0["towards"] as? [[String: Any]]) ?? [] }
        #expect(hops.contains { $0["latitude"] is Double && $0["place_time"] is String })
        #expect(try tool.run("export", "links", "--format", "geojson").status == 64)
    }

    @Test func `X9: CSV has a column for every metric that the schema has, times in ISO 8601 UTC`() throws {
        let tool = try Tool(holding: [
            """
            {"from":17,"to":4294967295,"id":9,"channel":0,"type":"telemetry","timestamp":1760000000,"sender":"!0000abcd",\
            "payload":{"temperature":20.5,"relative_humidity":40}}
            """
        ])
        let fields = try #require(FieldTable.standard.message(named: "EnvironmentMetrics")).fields.map(\.name)
        let lines = try tool.run("export", "telemetry", "--kind", "environment", "--format", "csv").lines
        let header = lines[0].split(separator: ",").map(String.init)
        #expect(fields.count >= 22 && Set(fields).isSubset(of: Set(header)))
        #expect(lines.count == 2 && lines[1].contains("2025-10-09T08:53:20Z") && lines[1].contains("20.5"))
    }

    /// A JSON message of MQTT cannot say every field, an envelope can.
    private static func telemetry(_ kind: TelemetryKind, _ message: MessageDescription) -> [UInt8] {
        var metrics = WireWriter()
        for field in message.fields {
            switch field.kind.wireType {
            case .fixed32 where field.kind.scalarName == "float": metrics.float(field.number, Float(field.number) + 0.5)
            case .fixed32: metrics.fixed32(field.number, field.number + 100)
            case .varint: metrics.varint(field.number, UInt64(field.kind.scalarName == "bool" ? 1 : field.number + 100))
            default: continue
            }
        }
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, 17)
            packet.fixed32(2, .max)
            packet.message(4) { data in
                data.varint(1, UInt64(Port.telemetry))
                data.message(2) { telemetry in
                    telemetry.fixed32(1, 1_760_000_000)
                    telemetry.bytes(UInt32(kind.rawValue), metrics.bytes)
                }
            }
            packet.fixed32(6, 500 + UInt32(kind.rawValue))
            packet.fixed32(7, 1_760_000_000)
        }
        writer.string(2, "LongFast")
        writer.string(3, "!0000abcd")
        return writer.bytes
    }

    @Test func `X9: of every kind of telemetry each number that the schema has is in its column, and times are ISO 8601 UTC`()
        throws
    {
        let tool = try Tool()
        try tool.run("init")
        var envelopes: [String] = []
        var messages: [TelemetryKind: MessageDescription] = [:]
        let all = try #require(FieldTable.standard.message(named: "Telemetry")).fields
        for kind in TelemetryKind.allCases {
            let field = try #require(all.first { $0.number == UInt32(kind.rawValue) }, "\(kind)")
            let message = try #require(FieldTable.standard.message(named: field.typeName), "\(kind)")
            messages[kind] = message
            envelopes.append(Data(Self.telemetry(kind, message)).base64EncodedString())
        }
        #expect(try tool.run("import", tool.write(envelopes, to: "telemetry.base64")).status == 0)
        for kind in TelemetryKind.allCases {
            let rows = try tool.run("export", "telemetry", "--kind", "\(kind)", "--format", "csv").lines
            try #require(rows.count == 2, "\(kind)")
            let header = rows[0].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let cells = rows[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            #expect(header.count == cells.count && cells.contains("2025-10-09T08:53:20Z"), "\(kind)")
            for field in try #require(messages[kind]).fields {
                guard let place = header.firstIndex(of: field.name) else {
                    Issue.record("\(kind): no column \(field.name)")
                    continue
                }
                switch field.kind.wireType {
                case .fixed32 where field.kind.scalarName == "float":
                    #expect(Double(cells[place]) == Double(field.number) + 0.5, "\(kind) \(field.name)")
                case .fixed32, .varint: #expect(!cells[place].isEmpty, "\(kind) \(field.name)")
                default: continue
                }
            }
        }
    }

    @Test func `X9: the CSV of every view has a column for each property of its rows, as it is stored`() async throws {
        let tool = try Tool(holding: Self.lines)
        let ledger = try await Ledger.temporary()
        func names(_ subject: String) throws -> [String] {
            func names<Row: QueryRow>(_ rows: Row.Type) -> [String] { Row.columns.map { $0.name.lowercased() } }
            guard let rows = ledger.rows(of: subject) else { return ["no rows of \(subject)"] }
            return names(rows)
        }
        for subject in Ledger.viewNames + ["channels", "hardware", "gateway_nodes", "unknown_telemetry", "references"]
        where subject != "packets" {
            let header = try tool.run("view", subject, "--raw", "--format", "csv").lines.first.map(String.init) ?? ""
            #expect(header.replacing("_", with: "").split(separator: ",").map(String.init) == (try names(subject)), "\(subject)")
        }
        try await ledger.close()
    }

    @Test func `a named node is chosen before rows are counted, and by its times too`() throws {
        let tool = try Tool(holding: Self.lines + [Line.node(0x12, long: "Other", short: "OT")])
        for name in ["!00000011", "!00000012"] {
            let rows = try tool.run("export", "nodes", "--node", name, "--limit", "1").objects
            #expect(rows.compactMap { $0["node"] as? String } == [name])
            #expect(try tool.run("nodes", "--node", name, "--since", "2026-01-01", "--format", "jsonl").objects.isEmpty)
            #expect(try tool.run("nodes", "--node", name, "--until", "2026-01-01", "--format", "jsonl").objects.count == 1)
        }
    }

    @Test func `exported messages are those of the query over all threads, the oldest first`() throws {
        let tool = try Tool()
        try tool.run("init")
        #expect(try tool.run("simulate", "--seed", "3", "--nodes", "30", "--packets", "4000").status == 0)
        let newest = try tool.run("messages", "--limit", "100000", "--format", "jsonl").lines
        let exported = try tool.run("export", "messages").lines
        #expect(exported.count > 100)
        #expect(exported == newest.reversed())
        #expect(try tool.run("export", "messages", "--offset", "7", "--limit", "5").lines == Array(exported[7..<12]))
        let channel = try tool.run("messages", "--channel", "LongFast", "--limit", "100000", "--format", "jsonl").lines
        #expect(!channel.isEmpty)
        #expect(try tool.run("export", "messages", "--channel", "LongFast").lines == channel.reversed())
    }

    @Test func `D12: what is exported is read by others, the same rows in each format`() throws {
        let tool = try Tool()
        try tool.run("init")
        #expect(try tool.run("simulate", "--seed", "5", "--nodes", "20", "--packets", "1500", "--bad", "50").status == 0)
        try tool.run("import", tool.write(Self.lines))
        let folder = tool.folder.file("exports")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func export(_ subject: String, _ format: String) throws {
            let outcome = try tool.run("export", subject, "--format", format)
            #expect(outcome.status == 0, "\(subject) as \(format): \(outcome.errors)")
            try Data(outcome.output.utf8).write(to: folder.appendingPathComponent("\(subject).\(format)"))
        }
        let subjects =
            ["events", "channels", "hardware", "gateway_nodes", "unknown_telemetry", "quarantine", "receptions", "packet_events"]
            + Ledger.viewNames
        for subject in subjects { for format in ["csv", "json", "jsonl"] { try export(subject, format) } }
        for subject in ["positions", "waypoints", "traceroutes"] { try export(subject, "geojson") }
        for format in ["gpx", "kml"] { try export("positions", format) }
        let reader = PackageRoot.url.appendingPathComponent("Tests/Oracle/read_exports.py").path
        let read = try FinishedProcess(URL(fileURLWithPath: "/usr/bin/env"), ["python3", reader, folder.path])
        #expect(read.status == 0 && read.text.contains("\(subjects.count) subjects"), "\(read.text)")
    }

    @Test(.enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)))
    func `generated envelopes come out as they went in, and go into another ledger`() throws {
        let tool = try Tool()
        try tool.run("init")
        let capture = try GeneratedCapture("envelopes", seed: 71, in: tool.folder)
        try tool.run("import", capture.url.path)
        let exported = try tool.run("export", "events")
        #expect(exported.objects.compactMap { $0["payload_b64"] as? String } == (try capture.lines()))
        #expect(try tool.run("import", capture.url.path).output.contains(": 0 events"))
        let copy = try Tool()
        try copy.run("init")
        try copy.run("import", tool.write(exported.lines.map(String.init), to: "events.jsonl"))
        #expect(try copy.run("export", "events").objects.compactMap { $0["payload_b64"] as? String } == (try capture.lines()))
    }

    @Test(.enabled(if: SharedFolder.exists, "needs ../shared"))
    func `recorded envelopes come out as they went in`() throws {
        let tool = try Tool()
        try tool.run("init")
        let file = SharedFolder.file("captures/mqtt-envelopes.base64")
        #expect(try tool.run("import", file.path).output.contains("337 events"))
        let exported = try tool.run("export", "events").objects.compactMap { $0["payload_b64"] as? String }
        let recorded = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline).map(String.init)
        #expect(exported == recorded.filter { !$0.hasPrefix("#") })
        #expect(try tool.run("events", "--failed", "--format", "jsonl").objects.count == 14)
        #expect(try tool.run("quarantine", "--format", "jsonl").objects.count == 14)
        #expect(try tool.run("import", file.path).output.contains(": 0 events"))
        #expect(try tool.run("verify").output.contains("337 events"))
    }
}
