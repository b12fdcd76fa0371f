import EventLog
import MeshLedger
import Meshtastic
import Testing
import ViewQuery

/// What people keep of rows that they archive goes with the node or packet that it came from.
struct ErasedKeptRows {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000

    /// Archives a waypoint, a position and a name of one node, and the position of another, and keeps something of each.
    private func ledger(dropping: Bool) async throws -> Ledger {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        func packet(_ from: UInt32, _ id: UInt32, _ port: UInt32, _ payload: [UInt8]) -> Packet {
            Packet(from: from, id: id, rxTime: Self.start + id, port: port, payload: payload)
        }
        let packets =
            [
                packet(1_001, 5, Port.waypoint, Packet.waypoint(7, "Camp")),
                packet(1_001, 6, Port.position, Packet.position(479_000_000, 112_000_000)),
                packet(1_001, 8, Port.nodeInfo, Packet.user("Rover")),
                packet(1_005, 9, Port.position, Packet.position(480_000_000, 113_000_000)),
            ] + (0..<600).map { packet(1_005, 100 + $0, Port.text, Array("hello".utf8)) }
        _ = try await ledger.log.append(packets.prefix(300).map { $0.event(source) })
        try await ledger.catchUp()
        try await ledger.annotations.archive(rows: FetchDescriptor<WaypointRow>(), keeping: ["name"])
        try await ledger.annotations.archive(rows: FetchDescriptor<PositionRow>(), keeping: ["latitude"])
        try await ledger.annotations.archive(rows: FetchDescriptor<NodeChangeRow>(), keeping: ["longName"])
        _ = try await ledger.log.append(packets.dropFirst(300).map { $0.event(source) })
        try await ledger.catchUp()
        if dropping { try await ledger.retention.retain(through: EventSequence(512)) }
        return ledger
    }

    private func kept(_ ledger: Ledger) throws -> Set<String> {
        Set(try ledger.fetch(FetchDescriptor<ArchivedRow>()).map(\.kept))
    }

    @Test(arguments: [false, true]) func `of an erased node`(dropping: Bool) async throws {
        let ledger = try await ledger(dropping: dropping)
        let all = try kept(ledger)
        #expect(all.count == 4 && all.contains("{\"name\":\"Camp\"}"), "\(all)")
        try await ledger.erasure.erase(.node(1_001), reason: "asked for")
        try await ledger.catchUp()
        let left = try kept(ledger)
        #expect(left == ["{\"latitude\":48}"], "\(left)")
        try await ledger.maintenance.rebuild()
        #expect(try kept(ledger) == left)
        try await ledger.close()
    }

    @Test(arguments: [UInt32(5), 6, 8], [false, true]) func `of an erased packet`(id: UInt32, dropping: Bool) async throws {
        let ledger = try await ledger(dropping: dropping)
        let gone = [5: "{\"name\":\"Camp\"}", 6: "{\"latitude\":47.9}", 8: "{\"longName\":\"Rover\"}"][id] ?? ""
        let all = try kept(ledger)
        #expect(all.contains(gone))
        try await ledger.erasure.erase(.packet(id: id, from: 1_001), reason: "asked for")
        try await ledger.catchUp()
        #expect(try kept(ledger) == all.subtracting([gone]))
        try await ledger.close()
    }
}
