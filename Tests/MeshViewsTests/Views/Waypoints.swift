import EventLog
import MeshLedger
import Meshtastic
import Testing

struct Waypoints {
    private typealias Packet = MeshPacketBuilder

    private static let start: UInt32 = 1_780_000_000

    /// A packet with a waypoint, `seconds` after the start.
    private func packet(_ seconds: UInt32, from: UInt32 = 1_001, _ payload: [UInt8]) -> Packet {
        Packet(from: from, id: 10_000 + seconds, rxTime: Self.start + seconds, port: Port.waypoint, payload: payload)
    }

    private func only(_ packets: [Packet]) async throws -> WaypointRow {
        let ledger = try await ledger(of: packets)
        let rows = try ledger.waypoints()
        #expect(rows.count == 1)
        let row = try #require(rows.first)
        #expect(try ledger.waypoint(row.id) == row)
        try await ledger.close()
        return row
    }

    @Test func `M21: a waypoint has everything that its packet says`() async throws {
        let expire = Self.start + 86_400
        let row = try await only([
            packet(
                5,
                Packet.waypoint(7, "Camp", expire: expire, lockedTo: 1_001) {
                    ($0.latitudeE7, $0.longitudeE7) = (479_000_000, -112_000_000)
                    ($0.description, $0.icon, $0.geofenceRadius) = ("by the lake", 0x1F3D5, 250)
                    ($0.notifyOnEnter, $0.notifyOnExit, $0.notifyFavoritesOnly) = (true, true, true)
                    var box = Waypoint.BoundingBox()
                    (box.westE7, box.southE7, box.eastE7, box.northE7) = (-5, -6, 7, 8)
                    $0.boundingBox = box
                })
        ])
        #expect((row.id, row.name, row.details, row.icon, row.geofenceRadius) == (7, "Camp", "by the lake", 0x1F3D5, 250))
        #expect((row.latitude, row.longitude) == (47.9, -11.2))
        #expect((row.expire, row.lockedTo, row.creator, row.from) == (expire, 1_001, 1_001, 1_001))
        #expect((row.time, row.timeSource, row.channel, row.gateway) == (Self.start + 5, .receiver, "LongFast", 0xaabb_ccdd))
        #expect(row.notifiesOnEnter && row.notifiesOnExit && row.notifiesFavoritesOnly)
        #expect(row.boundingBox.map { [$0.westE7, $0.southE7, $0.eastE7, $0.northE7] } == [-5, -6, 7, 8])
        #expect((row.changes, row.refusedChanges, row.sequence, row.firstSequence) == (1, 0, 1, 1))
        #expect(row.state(at: expire - 1) == .active && row.state(at: expire) == .expired)
    }

    @Test func `M21: one with the same id replaces it as a whole, from any sender`() async throws {
        let row = try await only([
            packet(1, Packet.waypoint(7, "Camp") { ($0.icon, $0.description) = (65, "old") }),
            packet(2, from: 1_002, Packet.waypoint(7, "Lake")),
        ])
        #expect((row.name, row.icon, row.details, row.creator, row.from) == ("Lake", 0, "", 1_001, 1_002))
        #expect((row.changes, row.firstSequence, row.sequence, row.time) == (2, 1, 2, Self.start + 2))
    }

    @Test func `M21: what is locked is changed and deleted by its locker only`() async throws {
        let locked = packet(1, Packet.waypoint(7, "Camp", lockedTo: 1_001))
        let others = [
            packet(2, from: 1_002, Packet.waypoint(7, "Mine now")), packet(3, from: 1_002, Packet.waypoint(7, expire: 1)),
        ]
        let refused = try await only([locked] + others)
        #expect((refused.name, refused.isDeleted, refused.changes, refused.refusedChanges) == ("Camp", false, 1, 2))
        let changed = try await only([locked, packet(4, Packet.waypoint(7, "Camp two"))] + others.suffix(1))
        // The other one's deletion came later, but was heard before the locker's change.
        #expect((changed.name, changed.isDeleted, changed.refusedChanges, changed.changes) == ("Camp two", false, 0, 3))
        let deleted = try await only(
            [locked, packet(4, Packet.waypoint(7, expire: 1))] + [packet(5, from: 1_002, Packet.waypoint(7, "Free"))])
        #expect((deleted.name, deleted.creator, deleted.isDeleted, deleted.refusedChanges) == ("Free", 1_001, false, 0))
    }

    @Test func `M21: an expiry that has passed deletes it, and it keeps what it was`() async throws {
        let camp = packet(1, Packet.waypoint(7, "Camp") { ($0.latitudeE7, $0.longitudeE7) = (1, 2) })
        for expire in [1, Self.start + 10] {
            let row = try await only([camp, packet(10, from: 1_002, Packet.waypoint(7, expire: expire))])
            #expect((row.isDeleted, row.name, row.latitudeE7, row.expire, row.from) == (true, "Camp", 1, expire, 1_002))
            #expect(row.state(at: 0) == .deleted)
        }
        let later = try await only([camp, packet(10, Packet.waypoint(7, "Camp", expire: Self.start + 11))])
        #expect(!later.isDeleted)
        let ledger = try await ledger(of: [packet(1, Packet.waypoint(9, expire: 1)), packet(2, Packet.waypoint(0, "no id"))])
        #expect(try ledger.waypoints().map { "\($0.id) \($0.isDeleted) \($0.name)" } == ["9 true "])
        try await ledger.close()
    }

    @Test func `a packet of earlier traffic that is imported later changes nothing but the count`() async throws {
        let newer = packet(7_000, Packet.waypoint(7, "new"))
        let row = try await only([newer, packet(6_999, from: 1_002, Packet.waypoint(7, "old"))])
        #expect((row.name, row.time, row.sequence, row.changes) == ("new", Self.start + 7_000, 1, 2))
        #expect((row.creator, row.from) == (1_002, 1_001))
        // A deletion that was heard in between: what is there now came after it.
        let after = try await only([newer, packet(6_999, Packet.waypoint(7, expire: 1))])
        #expect((after.isDeleted, after.name) == (false, "new"))
        let before = try await only([packet(7_001, Packet.waypoint(7, expire: 1)), newer])
        #expect((before.isDeleted, before.name) == (true, "new"))
    }

    @Test func `one packet heard by many gateways is one change`() async throws {
        let heard = ["!00000011", "!00000012"].map { gateway in
            var packet = packet(1, Packet.waypoint(7, "Camp"))
            packet.gateway = gateway
            return packet
        }
        #expect(try await only(heard).changes == 1)
    }

    @Test func `coordinates off the globe are quarantined, one coordinate alone is none, long texts are cut`() async throws {
        let ledger = try await ledger(of: [
            packet(1, Packet.waypoint(1) { ($0.latitudeE7, $0.longitudeE7) = (900_000_001, 0) }),
            packet(2, Packet.waypoint(2) { $0.latitudeE7 = 5 }),
            packet(
                3, Packet.waypoint(3, String(repeating: "ä", count: 100)) { $0.description = String(repeating: "x", count: 300) }),
            packet(4, [0xff]),
        ])
        #expect(try ledger.maintenance.quarantine(view: "waypoints").map(\.sequence) == [1])
        #expect(try ledger.maintenance.quarantine(view: "nodes").map(\.sequence) == [4])
        let rows = try ledger.waypoints()
        #expect(rows.map(\.id) == [3, 2])
        #expect(rows[1].latitudeE7 == nil && rows[1].longitudeE7 == nil)
        #expect(rows[0].name == String(repeating: "ä", count: 64) && rows[0].details == String(repeating: "x", count: 256))
        try await ledger.close()
    }

    @Test func `X1: beyond the cap the waypoint whose last change is the oldest goes`() async throws {
        let packets = [
            packet(1, Packet.waypoint(1)), packet(2, Packet.waypoint(2)), packet(3, Packet.waypoint(3)),
            packet(4, Packet.waypoint(1)), packet(5, Packet.waypoint(4)), packet(0, Packet.waypoint(5)),
        ]
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(waypoints: 3)))
        #expect(try ledger.waypoints().map(\.id) == [4, 1, 3])
        try await ledger.close()
    }

    @Test func `waypoints are asked for by node, channel, time and what is on the map`() async throws {
        var other = packet(3, from: 1_002, Packet.waypoint(3, expire: Self.start + 100))
        other.channel = "MediumFast"
        let ledger = try await ledger(of: [
            packet(1, Packet.waypoint(1)), packet(2, from: 1_002, Packet.waypoint(2, lockedTo: 1_001)), other,
            packet(4, Packet.waypoint(4)), packet(5, Packet.waypoint(4, expire: 1)),
        ])
        #expect(try ledger.waypoints(of: 1_001).map(\.id) == [4, 2, 1])
        #expect(try ledger.waypoints(RowQuery(limit: 2, offset: 1, newestFirst: false)).map(\.id) == [2, 3])
        #expect(try ledger.waypoints(RowQuery(channel: "MediumFast")).map(\.id) == [3])
        #expect(try ledger.waypoints(RowQuery(until: Timestamp(seconds: Int64(Self.start) + 3))).map(\.id) == [2, 1])
        let active = { (seconds: Int64) in
            try ledger.waypoints(activeAt: Timestamp(seconds: Int64(Self.start) + seconds)).map(\.id)
        }
        #expect(try active(99) == [3, 2, 1] && active(100) == [2, 1])
        try await ledger.close()
    }
}
