import EventLog
import Foundation
import LMDB
import MeshLedger
import MeshSimulator
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// What the index of the history finds, against a look at every event.
struct IndexedPackets {
    /// What an event says to someone who reads all of them.
    private struct Seen {
        var sequence: UInt64
        var packet: DecodedPacket
        var channel: String
        var named: [UInt32]

        func fits(_ wanted: EventSelection) -> Bool {
            if let node = wanted.node {
                let roles: [(EventSelection.Roles, Bool)] = [
                    (.sender, packet.from == node), (.addressee, packet.to == node), (.gateway, packet.gateway == node),
                    (.named, named.contains(node)),
                ]
                guard roles.contains(where: { wanted.roles.contains($0.0) && $0.1 }) else { return false }
            }
            if let gateway = wanted.gateway, packet.gateway != gateway { return false }
            if let channel = wanted.channel, channel != self.channel { return false }
            if let port = wanted.port, packet.port != port || !packet.opening.isReadable { return false }
            return wanted.packetID == nil || wanted.packetID == packet.id
        }
    }

    private static let keyring = Keyring.standard

    private static func ledger(_ count: Int, seed: UInt64) async throws -> Ledger {
        var simulation = MeshSimulation(SimulationOptions(seed: seed, nodes: 90, badPerMille: 60, encryptedPercent: 60))
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "mesh")
        _ = try await ledger.log.append(
            (0..<count).map { _ in NewEvent(simulation.next().envelope, encoding: .serviceEnvelope, source: source) })
        try await ledger.catchUp()
        return ledger
    }

    private static func look(at ledger: Ledger) throws -> [Seen] {
        let opener = PacketOpener(keyring: keyring)
        var batch = PacketBatch()
        var seen: [Seen] = []
        try ledger.log.withEvents(from: EventSequence(1)) { header, payload in
            batch.removeAll()
            opener.decode(payload, form: .serviceEnvelope, into: &batch)
            guard let packet = batch.packets.first, packet.hasPacket else { return true }
            seen.append(
                Seen(
                    sequence: header.sequence.rawValue, packet: packet, channel: channel(packet, batch),
                    named: named(packet, batch)))
            return true
        }
        return seen
    }

    private static func channel(_ packet: DecodedPacket, _ batch: PacketBatch) -> String {
        switch packet.opening {
        case .channelKey:
            if packet.flags.contains(.isUnknownChannelName) { return batch.string(packet.channelID) }
            return keyring.channels[Int(packet.keyIndex)].name
        case .decoded, .plaintext: return batch.string(packet.channelID)
        default: return "hash \(packet.channel), unreadable"
        }
    }

    private static func named(_ packet: DecodedPacket, _ batch: PacketBatch) -> [UInt32] {
        guard packet.opening.isReadable else { return [] }
        let payload = batch.payload(of: packet)
        var nodes: [UInt32] = []
        switch packet.port {
        case Port.traceroute: nodes = (try? RouteDiscovery(decoding: payload)).map { $0.route + $0.routeBack } ?? []
        case Port.neighborInfo:
            nodes = (try? NeighborInfo(decoding: payload)).map { [$0.node, $0.lastSentBy] + $0.neighbors.map(\.node) } ?? []
        case Port.waypoint: nodes = (try? Waypoint(decoding: payload)).map { [$0.lockedTo] } ?? []
        default: break
        }
        return nodes.filter { $0 != 0 && $0 != NodeID.broadcast && $0 != packet.to }
    }

    private static func selections(_ seen: [Seen], _ random: inout SeededGenerator) -> EventSelection {
        let event = seen[Int.random(in: 0..<seen.count, using: &random)]
        var wanted = EventSelection()
        let nodes = [event.packet.from, event.packet.to, event.packet.gateway, event.named.first ?? 77, 3]
        if Bool.random(using: &random) {
            wanted.node = nodes.filter { $0 != NodeID.broadcast }.randomElement(using: &random)
            wanted.roles = EventSelection.Roles(rawValue: UInt8.random(in: 1...15, using: &random))
        }
        if Int.random(in: 0..<4, using: &random) == 0 { wanted.gateway = event.packet.gateway }
        if Int.random(in: 0..<4, using: &random) == 0 { wanted.channel = event.channel }
        if Int.random(in: 0..<4, using: &random) == 0 { wanted.port = event.packet.port }
        if Int.random(in: 0..<4, using: &random) == 0 { wanted.packetID = event.packet.id }
        return wanted
    }

    @Test func `the index finds the events that a look at all of them finds`() async throws {
        // More than one block of the index, and a part of another.
        let ledger = try await Self.ledger(34_000, seed: 12)
        let seen = try Self.look(at: ledger)
        var random = SeededGenerator(seed: 12)
        for _ in 0..<300 {
            let wanted = Self.selections(seen, &random)
            let low = UInt64.random(in: 1...34_000, using: &random)
            let range = EventSequence(low)...EventSequence(UInt64.random(in: low...34_000, using: &random))
            let expected = seen.filter { $0.fits(wanted) && range.contains(EventSequence($0.sequence)) }.map(\.sequence)
            guard wanted != EventSelection() else { continue }
            #expect(try ledger.sequences(of: wanted, in: range).map(\.rawValue) == expected, "\(wanted)")
            let newest = try ledger.sequences(of: wanted, in: range, limit: 7, newestFirst: true).map(\.rawValue)
            #expect(newest == Array(expected.reversed().prefix(7)), "\(wanted)")
        }
        try await ledger.close()
    }

    @Test func `M11: a packet of three receptions is listed once, with everybody who heard it`() async throws {
        let ledger = try await Self.ledger(6_000, seed: 5)
        let seen = try Self.look(at: ledger).filter { $0.packet.opening != .invalid && $0.packet.id != 0 }
        var groups: [[UInt32]: [UInt64]] = [:]
        for event in seen { groups[[event.packet.from, event.packet.id], default: []].append(event.sequence) }
        let rows = try ledger.packets()
        #expect(rows.map(\.firstSequence) == rows.map(\.firstSequence).sorted(by: >))
        var found: [[UInt32]: [UInt64]] = [:]
        for row in rows where row.id != 0 { found[[row.from, row.id], default: []] += row.receptions.map(\.sequence) }
        #expect(found == groups)
        for row in rows.prefix(20) where row.id != 0 {
            #expect(try ledger.receptions(of: row.id, from: row.from) == row.receptions)
        }
        try await ledger.close()
    }

    /// The pages of the index's rows, in bytes an event.
    private func size(_ count: Int, _ event: (SourceID) throws -> NewEvent) async throws -> Double {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "mesh")
        _ = try await ledger.log.append((0..<count).map { _ in try event(source) })
        try await ledger.catchUp()
        try await ledger.close()
        let views = path + "/views/packets/"
        let recipe = try String(contentsOfFile: views + "current", encoding: .utf8).trimmingCharacters(
            in: .whitespacesAndNewlines)
        let environment = try Environment.open(views + recipe, EnvironmentOptions(access: .readOnly, maximumTables: 16))
        defer { environment.close() }
        let table = try environment.table("packets")
        let transaction = try environment.beginRead()
        var cursor = try transaction.cursor(table)
        var bytes = 4_096  // the page of the keys
        while try cursor.next() { bytes += (cursor.value.byteCount + 16 + 4_095) / 4_096 * 4_096 }
        return Double(bytes) / Double(count)
    }

    @Test(arguments: [UInt32(60), 0]) func `the index takes at most eight bytes an event`(encryptedPercent: UInt32) async throws {
        var simulation = MeshSimulation(
            SimulationOptions(seed: 2, nodes: 2_000, gateways: 100, badPerMille: 10, encryptedPercent: encryptedPercent))
        let size = try await size(33_000) { source in
            NewEvent(simulation.next().envelope, encoding: .serviceEnvelope, source: source)
        }
        #expect(size <= 8, "\(size)")
    }

    @Test(.enabled(if: SharedFolder.exists, "needs ../shared"))
    func `the index of recorded packets takes at most eight bytes an event`() async throws {
        struct Line: Decodable { var raw_b64: String }
        let text = try String(contentsOf: SharedFolder.file("captures/packets-2025-09.jsonl"), encoding: .utf8)
        let packets = try text.split(separator: "\n").map {
            try #require(Data(base64Encoded: JSONDecoder().decode(Line.self, from: Data($0.utf8)).raw_b64))
        }
        var next = 0
        let size = try await size(packets.count) { source in
            defer { next += 1 }
            return NewEvent([UInt8](packets[next]), encoding: .meshPacket, source: source)
        }
        #expect(size <= 8, "\(size)")
    }
}
