import EventLog
import MeshLedger
import Meshtastic
import Testing

/// Files that record no reception time, with clocks that show nothing or nonsense.
struct UnknownTimes {
    private typealias Packet = MeshPacketBuilder
    private static let heard: UInt32 = 1_740_000_000

    /// The same packet, heard by as many gateways, each with such a clock.
    private func messages(_ clocks: [UInt32]) async throws -> [MessageRow] {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "file:test")
        let events = clocks.enumerated().map { index, clock in
            let packet = Packet(rxTime: clock, payload: Array("hello".utf8), gateway: NodeID.text(0x11 + UInt32(index)))
            return NewEvent(packet.envelope(), encoding: .serviceEnvelope, source: source, reception: .unrecorded)
        }
        _ = try await ledger.log.append(events)
        try await ledger.catchUp()
        let rows = try ledger.messages()
        try await ledger.close()
        return rows.sorted { $0.sequence < $1.sequence }
    }

    @Test(arguments: [0, 86_400, 2_650_000_000, heard + 400_000_000] as [UInt32])
    func `a copy from a receiver without a clock is a reception of the same packet`(clock: UInt32) async throws {
        for clocks in [[Self.heard, clock, Self.heard + 2], [clock, Self.heard, clock]] {
            let rows = try await messages(clocks)
            #expect(rows.map(\.receptions) == [3])
        }
    }

    @Test func `the first time that is known opens the window`() async throws {
        let rows = try await messages([0, Self.heard, 0, Self.heard + 3_600, Self.heard + 3_601, 0])
        #expect(rows.map(\.firstSequence) == [1, 5])
        #expect(rows.map(\.receptions) == [4, 2])
    }

    @Test func `a packet of port 0 is counted, unreadable and in quarantine; nobody is node 0`() async throws {
        let ledger = try await ledger(of: [
            Packet(id: 1, port: 0, payload: [1]), Packet(id: 1, payload: Array("hello".utf8), gateway: "!00000012"),
            Packet(from: 0, id: 3, port: Port.position, payload: Packet.position(1_000, 2_000)),
            Packet(id: 2, port: 0, payload: [1]),
        ])
        #expect(try ledger.quarantine().map(\.sequence).sorted() == [1, 4])
        let node = try #require(try ledger.node(0x1000_0001))
        // The first packet turned readable in its second reception, the other one stays unreadable.
        #expect((node.packets, node.receptions, node.unreadable) == (2, 3, 1))
        #expect(try ledger.messages().map(\.receptions) == [2])
        #expect(try ledger.nodes().count == 1)
        #expect(try ledger.positions(of: nil).isEmpty)
        try await ledger.close()
    }
}
