import EventLog
import MeshLedger
import Meshtastic
import Testing

struct MapReports {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000

    private func report(
        _ name: String, after seconds: UInt32, from: UInt32 = 1_001, _ more: (inout MapReport) -> Void = { _ in }
    ) -> Packet {
        Packet(from: from, id: 0, rxTime: Self.start + seconds, port: Port.mapReport, payload: Packet.mapReport(name, more))
    }

    @Test func `a map report shows firmware, region, preset, place and how many nodes are near`() async throws {
        let ledger = try await ledger(of: [
            report("Hill", after: 0) { report in
                (report.shortName, report.role, report.hardwareModel, report.firmwareVersion) = ("HILL", 2, 43, "2.7.8")
                (report.region, report.modemPreset, report.hasDefaultChannel) = (3, 4, true)
                (report.latitudeE7, report.longitudeE7, report.altitude) = (501_000_000, -12_000_000, -3)
                (report.positionPrecision, report.onlineLocalNodes) = (14, 17)
            }
        ])
        let row = try #require(try ledger.mapReport(of: 1_001))
        #expect((row.longName, row.shortName, row.role, row.hardwareModel, row.firmware) == ("Hill", "HILL", 2, 43, "2.7.8"))
        #expect(
            (row.region, row.modemPreset, row.hasDefaultChannel, row.precisionBits, row.onlineLocalNodes) == (3, 4, true, 14, 17))
        #expect((row.latitude, row.longitude, row.altitude, row.channel, row.time) == (50.1, -1.2, -3, "LongFast", Self.start))
        try await ledger.close()
    }

    @Test func `the newest report stands, an older one only counts; places off the globe are none`() async throws {
        let ledger = try await ledger(of: [
            report("one", after: 60) { $0.onlineLocalNodes = 5 },
            report("two", after: 120) { ($0.onlineLocalNodes, $0.latitudeE7, $0.longitudeE7) = (3, 910_000_000, 1) },
            report("late", after: 30) { $0.onlineLocalNodes = 9 }, report("other", after: 90, from: 1_002),
        ])
        let row = try #require(try ledger.mapReport(of: 1_001))
        #expect((row.longName, row.reports, row.onlineLocalNodes, row.mostOnlineLocalNodes) == ("two", 3, 3, 9))
        #expect((row.time, row.firstTime, row.firstSequence, row.sequence) == (Self.start + 120, Self.start + 30, 1, 2))
        #expect(row.latitude == nil && row.longitude == nil)
        #expect(try ledger.mapReports().map(\.node) == [1_001, 1_002])
        #expect(try ledger.mapReports(of: 1_002).map(\.longName) == ["other"])
        #expect(try ledger.mapReports(RowQuery(limit: 1)).map(\.node) == [1_001])
        try await ledger.close()
    }

    @Test func `long texts are cut, and only so many nodes stay`() async throws {
        let long = String(repeating: "ä", count: 90)
        let all = (1...4).map { report(long, after: $0, from: 1_000 + $0) }
        let ledger = try await ledger(of: all, options: LedgerOptions(caps: ViewCaps(mapReports: 2)))
        #expect(try ledger.mapReports().map(\.node) == [1_004, 1_003])
        #expect(try ledger.mapReports().allSatisfy { $0.longName.count == 64 })
        try await ledger.close()
    }
}
