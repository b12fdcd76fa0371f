import Foundation
import TestKit
import Testing

/// What a terminal of 80 columns keeps.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct NarrowTables {
    private func tool() throws -> Tool {
        try Tool(holding: [
            Line.node(0x1902_5c00, long: "Tower on the ridge", short: "TOWR"),
            Line.position(0x1902_5c00, latitudeE7: 525_123_456, longitudeE7: 134_123_456),
            Line.text("hello, mesh: who of you can hear me out here by the lake today?", from: 0x1902_5c00),
        ])
    }

    @Test func `the newest positions say since when, before altitudes, and keep it longer`() throws {
        let tool = try tool()
        let wide = try tool.run("positions", "--latest").lines[0]
        let (since, altitude) = (wide.range(of: "since"), wide.range(of: "altitude"))
        #expect(try #require(since).lowerBound < #require(altitude).lowerBound, "\(wide)")
        for columns in [80, 90, 99] {
            let head = try tool.shown(["positions", "--latest"], columns: columns).lines[0]
            #expect(["since", "latitude", "longitude", "time"].allSatisfy(head.contains), "\(columns): \(head)")
        }
    }

    @Test func `nodes keep where they are and how old that is`() throws {
        let lines = try tool().shown(["nodes"], columns: 80).lines
        #expect(["name", "last heard", "latitude", "longitude", "pos age"].allSatisfy(lines[0].contains), "\(lines)")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    }

    @Test func `live packets give the room to their content`() throws {
        let tool = try tool()
        let live = try tool.shown(["packets", "--follow", "--since", "2025-01-01", "--limit", "3"], columns: 80)
        let head = live.lines[0]
        #expect(["time", "from", "port", "content"].allSatisfy(head.contains), "\(live)")
        let place = try #require(head.range(of: "content")).lowerBound.utf16Offset(in: head)
        #expect(80 - place >= 26 && live.lines.count <= 11, "\(live)")
    }
}
