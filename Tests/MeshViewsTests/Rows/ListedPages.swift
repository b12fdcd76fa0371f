import EventLog
import Foundation
import MeshViews
import Meshtastic
import Testing
import ViewQuery

@testable import MeshLedger

struct ListedPages {
    private typealias Packet = MeshPacketBuilder

    /// Introductions of 4,200 nodes by two gateways, at times that recur and do not follow the numbers.
    private func packets() -> [Packet] {
        (0..<4_200).map { (index: UInt32) in
            Packet(
                from: 1_000 + index, id: 1 + index, rxTime: 1_780_000_000 + index &* 2_654_435_761 % 1_000, port: Port.nodeInfo,
                payload: Packet.user("node \(index)", hardware: 1 + index % 3),
                gateway: index % 2 == 0 ? "!00000011" : "!00000012")
        }
    }

    private func expectPages<Row: Equatable>(_ list: (RowQuery) throws -> [Row]) throws {
        for newestFirst in [true, false] {
            let all = try list(RowQuery(newestFirst: newestFirst))
            #expect(all.count == 4_200)
            for (limit, offset) in [(20, 0), (7, 4_190), (Int.max, 4_198)] {
                let page = try list(RowQuery(limit: limit, offset: offset, newestFirst: newestFirst))
                #expect(page == Array(all.dropFirst(offset).prefix(limit)), "\(limit) after \(offset)")
            }
        }
    }

    @Test func `a page of thousands is that part of the whole list, in each order`() async throws {
        let ledger = try await ledger(of: packets())
        try expectPages { try ledger.nodes($0) }
        try expectPages { try ledger.gatewayNodes($0) }
        try expectPages { try ledger.nodeHistory($0) }
        try await ledger.close()
    }

    @Test func `what is listed of one node is found by a key or an index`() async throws {
        let ledger = try await ledger(of: [])
        func access<Row: ListedRow>(_: Row.Type) throws -> QueryExplanation.Access {
            try ledger.explain(FetchDescriptor(all: Row.wanted(of: 7, RowQuery()).compactMap(\.condition))).access
        }
        #expect(try access(NodeRow.self) == .ranges)
        #expect(try access(GatewayRow.self) == .ranges)
        #expect(try access(MapReportRow.self) == .ranges)
        #expect(try access(SensorRow.self) == .ranges)
        #expect(try access(UnknownTelemetryRow.self) == .ranges)
        #expect(try access(NodeChangeRow.self) == .ranges)
        #expect(try access(LinkRow.self) == .union)
        #expect(try access(TraceRouteRow.self) == .union)
        #expect(try access(GatewayNodeRow.self) == .skippingScan)
        try await ledger.close()
    }
}
