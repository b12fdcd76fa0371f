import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Which events made a row and changed it last.
struct RowHeaders {
    private static let start: UInt32 = 1_780_000_000

    /// The first and last sequences, and the times beside them, of each row by its name.
    private func headers<Row: QueryRow>(
        _ ledger: Ledger, _ first: KeyPath<Row, UInt64>, _ last: KeyPath<Row, UInt64>, _ times: KeyPath<Row, UInt32>...
    ) throws -> [[UInt8]: [UInt64]] {
        let naming = RowNaming<Row>()
        let rows = try ledger.fetch(FetchDescriptor<Row>())
        return Dictionary(
            uniqueKeysWithValues: rows.map { row in
                (naming.name(of: row), [row[keyPath: first], row[keyPath: last]] + times.map { UInt64(row[keyPath: $0]) })
            })
    }

    private func all(_ ledger: Ledger) throws -> [String: [[UInt8]: [UInt64]]] {
        [
            "nodes": try headers(ledger, \NodeRow.firstSequence, \.lastSequence, \.firstHeard, \.lastHeard),
            "waypoints": try headers(ledger, \WaypointRow.firstSequence, \.sequence, \.time),
            "traceroutes": try headers(ledger, \TraceRouteRow.firstSequence, \.sequence, \.time),
            "links": try headers(ledger, \LinkRow.firstSequence, \.sequence, \.firstTime, \.time),
            "gateways": try headers(ledger, \GatewayRow.firstSequence, \.sequence, \.firstTime, \.time),
            "gateway_nodes": try headers(ledger, \GatewayNodeRow.firstSequence, \.sequence, \.firstTime, \.time),
            "mapreports": try headers(ledger, \MapReportRow.firstSequence, \.sequence, \.firstTime, \.time),
            "hardware": try headers(ledger, \HardwareRow.firstSequence, \.sequence, \.firstTime, \.time),
            "channels": try headers(ledger, \ChannelRow.firstSequence, \.lastSequence, \.firstHeard, \.lastHeard),
        ]
    }

    @Test(arguments: UInt64(1)...2)
    func `S13: rows of every kind that changes say by which events they were made and changed last, and a replay says the same`(
        seed: UInt64
    )
        async throws
    {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let packets = RandomPackets().packets(400, seed: 90 + seed)
        var known: [String: [[UInt8]: [UInt64]]] = [:]
        var changed: Set<String> = []
        for lot in stride(from: 0, to: packets.count, by: 20) {
            let before = ledger.log.head.rawValue
            let feeds = try Ledger.viewNames.reduce(into: [:]) { $0[$1] = try ledger.changes.position(of: $1) }
            _ = try await ledger.log.append(packets[lot..<lot + 20].map { $0.event(source) })
            try await ledger.catchUp()
            let now = try all(ledger)
            for (table, rows) in now {
                for (name, header) in rows {
                    let (first, last) = (header[0], header[1])
                    #expect(first > 0 && first <= last && last <= ledger.log.head.rawValue, "\(table) \(name) \(header)")
                    guard let old = known[table]?[name] else {
                        #expect(last > before, "\(table) is new")
                        continue
                    }
                    #expect(old[0] == first && old[1] <= last, "\(table) \(name): \(old), then \(header)")
                    if last != old[1] {
                        #expect(last > before)
                        changed.insert(table)
                    }
                }
            }
            // What no column says, as a message that was acknowledged, is reported by the view's changes.
            for (view, position) in feeds {
                let news = try ledger.changes.fetch(of: view, since: position, limit: 100_000)
                #expect(news.position.number >= position.number, "\(view)")
            }
            known = now
        }
        #expect(changed.count >= 7, "\(changed)")
        try await ledger.maintenance.rebuild()
        #expect(try all(ledger) == known, "seed \(seed)")
        // Rows that never change are of one event each, which is in the log.
        for row in try ledger.positions(of: nil) {
            #expect(try ledger.log.event(EventSequence(row.sequence)) != nil)
        }
        for row in try ledger.messages() { #expect(row.firstSequence <= row.sequence && row.firstSequence > 0) }
        try await ledger.close()
    }

    // MARK: Joins

    struct NodeChannel: StoredRow, Equatable {
        var node: UInt32 = 0
        var channel: UInt64 = 0
        var name = ""
        var packets: UInt64 = 0
        var first: UInt64 = 0
        var last: UInt64 = 0
        static let view = "node-channels"
        static let columns: [RowColumn<NodeChannel>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(key: "channel", \.channel), RowColumn(1, "name", \.name),
            RowColumn(2, "packets", \.packets), RowColumn(3, "first", \.first), RowColumn(4, "last", \.last),
        ]
    }

    struct NodeChannels: LedgerView {
        static let versions = [SchemaVersion(1)]
        static let cap = RowCap<NodeChannel>.total(10_000, by: \.last)

        func fold(_ event: MeshEvent, into rows: inout RowEditor<NodeChannel>) throws {
            let name = event.channel
            let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
            var row = NodeChannel(node: event.packet.from, channel: hash, name: name)
            row.first = event.sequence
            try rows.update(row) {
                $0.packets += 1
                $0.last = event.sequence
            }
        }
    }

    struct MessageRelay: StoredRow, Equatable {
        var from: UInt32 = 0
        var id: UInt32 = 0
        var gateway: UInt32 = 0
        var sequence: UInt64 = 0
        static let view = "message-relays"
        static let columns: [RowColumn<MessageRelay>] = [
            RowColumn(key: "from", \.from, .node), RowColumn(key: "id", \.id), RowColumn(key: "gateway", \.gateway, .node),
            RowColumn(1, "sequence", \.sequence),
        ]
    }

    struct MessageRelays: LedgerView {
        static let versions = [SchemaVersion(1)]
        static let cap = RowCap<MessageRelay>.total(100_000, by: \.sequence)
        static let countsReceptions = true

        func fold(_ event: MeshEvent, into rows: inout RowEditor<MessageRelay>) throws {
            guard event.packet.port == Port.text else { return }
            var row = MessageRelay(from: event.packet.from, id: event.packet.id, gateway: event.packet.gateway)
            row.sequence = event.sequence
            if try rows.row(row) == nil { rows.insert(row) }
        }
    }

    @Test
    func `S17: node and channel, message and relay are joined by views of their own, whose rows lead to the events that say so`()
        async throws
    {
        var options = LedgerOptions()
        options.views = [NodeChannels.self, MessageRelays.self]
        let ledger = try await Ledger.temporary(options: options)
        let source = try await ledger.log.source(named: "test")
        var packets: [MeshPacketBuilder] = []
        for id in UInt32(1)...60 {
            for gateway in ["!00000011", "!00000012"].prefix(Int(id % 2) + 1) {
                packets.append(
                    MeshPacketBuilder(
                        from: 1_000 + id % 4, id: id, rxTime: Self.start + id, payload: Array("t\(id)".utf8),
                        channel: id % 3 == 0 ? "Other" : "LongFast", gateway: gateway))
            }
        }
        _ = try await ledger.log.append(packets.map { $0.event(source) })
        try await ledger.catchUp()
        let pairs = try ledger.fetch(FetchDescriptor<NodeChannel>())
        #expect(pairs.count == 8 && pairs.map(\.packets).reduce(0, +) == 60)
        for pair in pairs {
            for sequence in [pair.first, pair.last] {
                let packet = packets[Int(sequence) - 1]
                #expect(packet.from == pair.node && packet.channel == pair.name)
            }
        }
        let relays = try ledger.fetch(FetchDescriptor<MessageRelay>())
        #expect(relays.count == packets.count)
        for relay in relays {
            let packet = packets[Int(relay.sequence) - 1]
            #expect(
                packet.from == relay.from && packet.id == relay.id && packet.gateway.hasSuffix(String(relay.gateway, radix: 16)))
        }
        // The same as the receptions that the packet index tells.
        for message in try ledger.messages() {
            let (from, id) = (message.from, message.id)
            let joined = try ledger.fetch(FetchDescriptor<MessageRelay>(predicate: #Predicate { $0.from == from && $0.id == id }))
            #expect(joined.map(\.gateway).sorted() == message.gateways.sorted())
        }
        try await ledger.close()
    }

    // MARK: A wrong decoder

    struct Place: StoredRow, Equatable {
        var node: UInt32 = 0
        var latitude: Int32 = 0
        var longitude: Int32 = 0
        static let view = "places"
        static let columns: [RowColumn<Place>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(1, "latitude", \.latitude), RowColumn(2, "longitude", \.longitude),
        ]
    }

    /// Reads the position's own bytes: the fields of a place changed for each other, and as if they were unsigned varints.
    struct WrongPlaces: LedgerView {
        static let versions = [SchemaVersion(1)]
        static let cap = RowCap<Place>.total(100, by: \.node)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<Place>) throws {
            guard event.packet.port == Port.position else { return }
            let position = try event.payload { try Position(decoding: $0) }
            try rows.update(Place(node: event.packet.from)) {
                ($0.latitude, $0.longitude) = ((position.longitudeE7 ?? 0) &* 10, position.latitudeE7 ?? 0)
            }
        }
    }

    struct RightPlaces: LedgerView {
        static let versions = [SchemaVersion(1), SchemaVersion(2)]
        static let cap = RowCap<Place>.total(100, by: \.node)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<Place>) throws {
            guard event.packet.port == Port.position else { return }
            let position = try event.payload { try Position(decoding: $0) }
            try rows.update(Place(node: event.packet.from)) {
                ($0.latitude, $0.longitude) = (position.latitudeE7 ?? 0, position.longitudeE7 ?? 0)
            }
        }
    }

    @Test func `D1: what a wrong decoder made of years of traffic is right once it is mended, since the bytes were kept`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var options = LedgerOptions()
        options.views = [WrongPlaces.self]
        var ledger = try await Ledger.create(at: path, options: options)
        let source = try await ledger.log.source(named: "test")
        let packets = (UInt32(1)...400).map { id in
            MeshPacketBuilder(
                from: 1_000 + id % 20, id: id, rxTime: Self.start + id * 80_000 % 4_000, port: Port.position,
                payload: MeshPacketBuilder.position(400_000_000 + Int32(id), 80_000_000 - Int32(id)))
        }
        _ = try await ledger.log.append(packets.map { $0.event(source) })
        try await ledger.catchUp()
        let wrong = try ledger.fetch(FetchDescriptor<Place>())
        #expect(wrong.count == 20 && wrong.allSatisfy { $0.latitude < 0 || $0.longitude > 300_000_000 })
        let root = ledger.log.head
        try await ledger.close()
        options.views = [RightPlaces.self]
        ledger = try await Ledger.open(at: path, options: options)
        try await ledger.catchUp()
        let right = try ledger.fetch(FetchDescriptor<Place>())
        for place in right {
            let last = try #require(packets.last { $0.from == place.node })
            #expect([place.latitude, place.longitude] == [400_000_000 + Int32(last.id), 80_000_000 - Int32(last.id)])
        }
        #expect(right.count == 20 && ledger.log.head == root)
        for (event, packet) in zip(try (1...400).map { try ledger.log.event(EventSequence($0)) }, packets) {
            #expect(event?.payload == packet.envelope())
        }
        try await ledger.close()
    }
}
