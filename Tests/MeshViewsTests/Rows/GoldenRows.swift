import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// The rows of a small mesh, column by column, as they are kept in `Tests/Fixtures/golden`. `MESHLEDGER_GOLDEN=write` rewrites them.
struct GoldenRows {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000

    private static func telemetry(_ id: UInt32, kind: UInt32, from: UInt32 = 1_001, _ metrics: (inout WireWriter) -> Void)
        -> Packet
    {
        var writer = WireWriter()
        writer.fixed32(1, start + id)
        writer.message(kind, metrics)
        return Packet(from: from, id: id, rxTime: start + id, port: Port.telemetry, payload: writer.bytes)
    }

    /// Two nodes that introduce themselves, a third that is only heard, and a fourth that only gateways hear.
    private static let packets: [Packet] = {
        var packets = [
            Packet(
                from: 1_001, id: 1, rxTime: start + 1, port: Port.position, payload: Packet.position(479_000_000, 112_000_000)),
            Packet(
                from: 1_001, id: 2, rxTime: start + 2, port: Port.nodeInfo,
                payload: Packet.user("Alpha Harbour", key: [UInt8](repeating: 7, count: 32), hardware: 43, role: 2), hopLimit: 1,
                hopStart: 3,
                snr: -7.25),
            Packet(
                from: 1_002, id: 3, rxTime: start + 3, port: Port.nodeInfo, payload: Packet.user("Beta", hardware: 9),
                isViaMQTT: true),
            Packet(
                from: 1_003, id: 4, rxTime: start + 4, port: Port.position,
                payload: Packet.position(-337_000_000, 1_512_000_000, precision: 14)),
            // Nowhere: in the log only.
            Packet(from: 1_003, id: 5, rxTime: start + 5, port: Port.position, payload: Packet.position(0, 0)),
            Packet(
                from: 1_001, id: 6, rxTime: start + 6, port: Port.position,
                payload: Packet.position(479_000_500, 112_000_500, time: start + 4)),
            Packet(from: 1_001, id: 10, rxTime: start + 10, payload: Array("hello, harbour ⛵".utf8)),
            Packet(from: 1_002, id: 11, rxTime: start + 11, payload: Array("and hello to you".utf8), replyID: 10),
            Packet(from: 1_003, id: 12, rxTime: start + 12, payload: Array("👍".utf8), replyID: 10, emoji: 1),
            Packet(from: 1_001, to: 1_002, id: 13, rxTime: start + 13, payload: Array("to you alone".utf8)),
            Packet(
                from: 1_002, to: 1_001, id: 14, rxTime: start + 14, port: Port.routing, payload: Packet.routing(error: 0),
                requestID: 13),
            // An acknowledgement before its message.
            Packet(
                from: 1_002, to: 1_001, id: 15, rxTime: start + 15, port: Port.routing, payload: Packet.routing(error: 0),
                requestID: 16),
            Packet(from: 1_001, to: 1_002, id: 16, rxTime: start + 16, payload: Array("acknowledged before".utf8)),
            Packet(from: 1_001, to: 1_003, id: 17, rxTime: start + 17, payload: Array("lost".utf8)),
            Packet(
                from: 1_001, to: 1_001, id: 18, rxTime: start + 18, port: Port.routing, payload: Packet.routing(error: 5),
                requestID: 17),
            telemetry(20, kind: 2) {
                $0.varint(1, 87)
                $0.float(2, 4.125)
                $0.float(3, 0)
            },
            telemetry(21, kind: 3) {
                $0.float(1, 20.5)
                $0.float(2, 40)
            },
            telemetry(22, kind: 4) { $0.varint(1, 12) }, telemetry(23, kind: 5) { $0.float(1, 5.25) },
            telemetry(24, kind: 6) { $0.varint(1, 100) }, telemetry(25, kind: 14) { $0.string(3, "tomorrow") },
        ]
        var again = packets[6]
        (again.gateway, again.snr, again.hopStart, again.hopLimit) = ("!00000012", 5.5, 3, 2)
        packets.append(again)
        return packets
    }()

    private static func ledger() async throws -> Ledger {
        let options = LedgerOptions(log: EventLogOptions(clock: { Timestamp(seconds: Int64(start) + 60) }))
        let ledger = try await Ledger.temporary(options: options)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(packets.map { $0.event(source) })
        try await ledger.catchUp()
        return ledger
    }

    private func expect(_ lines: [String], _ name: String) throws {
        let file = PackageRoot.url.appendingPathComponent("Tests/Fixtures/golden/\(name).jsonl")
        let text = lines.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["MESHLEDGER_GOLDEN"] == "write" {
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let golden = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(golden.count == lines.count, "\(name)")
        for (line, wanted) in zip(lines, golden) { #expect(line == wanted, "\(name)") }
    }

    private func rows<Row: RelatedRow>(_ type: Row.Type, _ ledger: Ledger) throws -> [String] {
        try ledger.expand(FetchDescriptor<Row>(), [.rows]).map(\.json)
    }

    @Test
    func
        `M16 M17 M18 M19: the rows of nodes, messages, positions and telemetry of a small mesh are the golden ones in every column`()
        async throws
    {
        let ledger = try await Self.ledger()
        for turn in ["folded", "rebuilt"] {
            try expect(rows(NodeRow.self, ledger), "nodes")
            try expect(rows(MessageRow.self, ledger), "messages")
            try expect(rows(PositionRow.self, ledger), "positions")
            try expect(rows(TelemetryRow.self, ledger), "telemetry")
            try expect(
                ledger.unknownTelemetry().map { row in
                    "{" + UnknownTelemetryRow.columns.map { "\"\($0.name)\":\"\($0.value(in: row))\"" }.joined(separator: ",")
                        + "}"
                }, "unknown_telemetry")
            // The latest position is the newest by its time, with one look.
            #expect(try ledger.latestPosition(of: 1_001)?.packetID == 6, "\(turn)")
            // Null island is no position, and an event of the log as it came.
            let nowhere = try #require(try ledger.log.event(EventSequence(5)))
            #expect(
                try nowhere.payload == Self.packets[4].envelope() && !ledger.positions(of: 1_003).contains { $0.packetID == 5 })
            #expect(try ledger.log.event(EventSequence(21))?.payload == Self.packets[20].envelope())
            #expect(try ledger.message(id: 16, from: 1_001)?.state == .delivered)
            try await ledger.maintenance.rebuild()
        }
        try await ledger.close()
    }

    @Test func `G3: rows with those of their node, whole, in part and by their keys, are the golden JSON`() async throws {
        let ledger = try await Self.ledger()
        let one = FetchDescriptor<NodeRow>(predicate: #Predicate { $0.number == 1_001 })
        try expect(
            [
                ledger.expand(one, [.rows, .rows]), ledger.expand(one, [.rows, .fragments, .ids]),
                ledger.expand(one, [.fragments, .rows, .fragments], newest: 1),
            ].map { $0.map(\.json).joined() }, "nested")
        try await ledger.close()
    }
}
