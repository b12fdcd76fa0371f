import Foundation
import TestKit
import Testing

/// Course and dilution of precision in each place where people see them.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct CourseTests {
    private static func line(_ id: Int, _ members: String) -> String {
        """
        {"from":17,"to":4294967295,"id":\(id),"channel":0,"type":"position","timestamp":\(1_760_000_000 + id),"sender":"!0000abcd",\
        "rssi":-60,"snr":5.5,"payload":{"latitude_i":480000000,"longitude_i":90000000,\(members)}}
        """
    }

    private static let lines = [
        line(1, #""ground_track":12345678,"PDOP":159,"HDOP":90,"VDOP":131"#), line(2, #""ground_track":36000001,"PDOP":0"#),
        line(3, #""ground_track":36000000,"HDOP":4294967295"#), line(4, #""altitude":5"#), line(5, #""ground_track":0"#),
    ]

    private static let courses: [Double?] = [123.45678, nil, 360, nil, 0]

    @Test func `a course is degrees, of a hundred thousand a degree, and a number that is no course is none`() throws {
        let tool = try Tool(holding: Self.lines)
        for arguments in [
            ["positions", "--oldest-first"], ["positions", "track", "--node", "!11"], ["export", "positions", "--oldest-first"],
        ] {
            let rows = try tool.start(arguments + ["--format", "jsonl"]).wait().objects
            #expect(rows.map { $0["ground_track"] as? Double } == Self.courses, "\(arguments)")
            let dilution = rows.map { $0["hdop"] as? Double }
            #expect(dilution == [0.9, nil, 42_949_672.95, nil, nil], "\(arguments)")
        }
        let first = try #require(try tool.run("positions", "--oldest-first", "--format", "jsonl").objects.first)
        #expect([first["pdop"], first["hdop"], first["vdop"]].map { $0 as? Double } == [1.59, 0.9, 1.31])
        let table = try tool.run("positions", "--oldest-first").lines
        #expect(table[0].contains("course °") && table[1].contains("  123.46  ") && !table[2].contains("360"))
        #expect(try tool.run("positions", "track", "--node", "!11").lines[0].contains("course °"))
        #expect(try tool.run("positions", "--oldest-first", "--format", "csv").lines[1].contains(",123.45678,"))
    }

    @Test func `GeoJSON, KML and GPX have the same course and dilutions`() throws {
        let tool = try Tool(holding: Self.lines)
        let data = Data(try tool.run("export", "positions", "--oldest-first", "--format", "geojson").output.utf8)
        let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let properties = try #require(document["features"] as? [[String: Any]]).compactMap { $0["properties"] as? [String: Any] }
        #expect(properties.map { $0["ground_track"] as? Double } == Self.courses)
        #expect(properties.first?["pdop"] as? Double == 1.59)
        let kml = try tool.run("export", "positions", "--oldest-first", "--format", "kml").output
        #expect(
            kml.contains("<Data name=\"ground_track\"><value>123.45678</value>")
                && kml.contains("<Data name=\"hdop\"><value>0.9</value>"))
        let gpx = try tool.run("export", "positions", "--oldest-first", "--format", "gpx").output
        #expect(gpx.contains("<hdop>0.9</hdop><vdop>1.31</vdop><pdop>1.59</pdop>"))
        let courses = gpx.components(separatedBy: "<gpxtpx:course>").dropFirst().map { $0.prefix { $0 != "<" } }
        #expect(courses == ["123.45678", "0.00000", "0.00000"], "360 degrees are 0 there")
        let reduced = try tool.run("export", "positions", "--oldest-first", "--precision", "14", "--format", "gpx").output
        #expect(!reduced.contains("course>"))
    }

    @Test func `the rows of the view and a packet's fields tell them alike, and conditions go by what is shown`() throws {
        let tool = try Tool(holding: Self.lines)
        let rows = try tool.run("view", "positions", "--format", "jsonl").objects
        #expect(rows.map { $0["ground_track"] as? Double } == Self.courses && rows.first?["pdop"] as? Double == 1.59)
        let found = try tool.run("view", "positions", "--where", "hdop<1", "--where", "ground_track>100", "--format", "jsonl")
            .objects
        #expect(found.map { $0["packet_id"] as? Int } == [1])
        let shown = try tool.run("packet", "show", "1").output
        #expect(
            shown.contains("16 ground_track = 12345678 (123.45678 degrees)") && shown.contains("11 PDOP = 159 (1.59)"), "\(shown)"
        )
        #expect(try tool.run("packet", "show", "2").output.contains("16 ground_track = 36000001 (no course)"))
    }
}
