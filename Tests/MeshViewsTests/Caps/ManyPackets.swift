import EventLog
import Foundation
import MeshLedger
import MeshSimulator
import Meshtastic
import Projections
import ProtobufWire
import Synchronization
import TestKit
import Testing
import ViewQuery

/// Caps and keys as they are by default, with as many packets as they are about.
@Suite(.serialized, .timeLimit(.minutes(40))) struct ManyPackets {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000
    private static let quick = EventLogOptions(isDurable: false)

    private func position(_ id: UInt32, from: UInt32 = 1_001, at time: UInt32? = nil) -> Packet {
        Packet(
            from: from, id: id, rxTime: Self.start + (time ?? id), port: Port.position,
            payload: Packet.position(Int32(id) + 1_000, 7))
    }

    private func telemetry(_ id: UInt32, kind: UInt32, from: UInt32 = 1_001) -> Packet {
        var writer = WireWriter()
        writer.message(kind) { $0.varint(1, UInt64(id)) }
        return Packet(from: from, id: id, rxTime: Self.start + id, port: Port.telemetry, payload: writer.bytes)
    }

    private func append(_ packets: [Packet], to ledger: Ledger) async throws {
        let source = try await ledger.log.source(named: "test")
        var batch = EventBatch()
        for packet in packets { batch.append(packet.event(source)) }
        try await ledger.log.append(batch)
        try await ledger.catchUp()
    }

    @Test
    func `M9 M10: of a hundred thousand interleaved packets there is one row for each sender, with what its user says in it`()
        async throws
    {
        var options = LedgerOptions(log: Self.quick)
        options.keepsIndexes = false
        let ledger = try await Ledger.temporary(options: options)
        let source = try await ledger.log.source(named: "simulated")
        var simulation = MeshSimulation(SimulationOptions(seed: 3, nodes: 1_500, badPerMille: 0))
        let keys = MeshSimulation.harbour
        try await ledger.keys.set(keys)
        var senders: Set<UInt32> = []
        var introduced: [UInt32: String] = [:]
        for _ in 0..<10 {
            var batch = EventBatch()
            for _ in 0..<Scale.of(10_000, 2_000) {
                let reception = simulation.next()
                batch.append(NewEvent(reception.envelope, encoding: .serviceEnvelope, source: source))
                senders.insert(reception.fact.from)
            }
            try await ledger.log.append(batch)
        }
        try await ledger.catchUp()
        let rows = try ledger.nodes(RowQuery(newestFirst: false))
        #expect(rows.map(\.number) == senders.sorted() && senders == simulation.truth.nodes)
        // What users say is in no other table; of each node the last introduction counts.
        for change in try ledger.nodeHistory(RowQuery(newestFirst: false)) where !change.longName.isEmpty {
            introduced[change.node] = change.longName
        }
        #expect(introduced.count > 100)
        for (node, name) in introduced { #expect(try ledger.node(node)?.longName == name) }
        #expect(rows.count { !$0.longName.isEmpty } == introduced.count)
        try await ledger.close()
    }

    @Test func `M30: of 5,001 positions of a node 5,000 stay, the oldest goes, however they are flushed`() async throws {
        for lots in [1, 7] {
            let ledger = try await Ledger.temporary(options: LedgerOptions(log: Self.quick))
            let packets = (UInt32(1)...5_001).map { position($0, at: $0 == 2_000 ? 0 : $0) } + [position(1, from: 1_002)]
            for lot in 0..<lots {
                try await append(Array(packets[packets.count * lot / lots..<packets.count * (lot + 1) / lots]), to: ledger)
            }
            let rows = try ledger.positions(of: 1_001, RowQuery(newestFirst: false))
            // The oldest by its time, not by its arrival.
            #expect(rows.map(\.packetID) == (1...5_001).filter { $0 != 2_000 }.map { UInt32($0) })
            #expect(try ledger.positions(of: 1_002).count == 1 && ledger.log.head.rawValue == 5_002)
            try await ledger.close()
        }
    }

    @Test func `M31: an overflow of one kind of a node's telemetry leaves the other kinds and other nodes as they are`()
        async throws
    {
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: Self.quick))
        let packets =
            (UInt32(1)...40).map { telemetry($0, kind: 3) } + (UInt32(1)...40).map { telemetry($0, kind: 2, from: 1_002) }
            + (UInt32(101)...5_140).map { telemetry($0, kind: 2) }
        try await append(packets, to: ledger)
        let device = try ledger.telemetry(of: 1_001, kind: .device, RowQuery(newestFirst: false))
        #expect(device.map(\.packetID) == Array(141...5_140))
        #expect(try ledger.telemetry(of: 1_001, kind: .environment).count == 40)
        #expect(try ledger.telemetry(of: 1_002, kind: .device).count == 40)
        try await ledger.close()
    }

    private final class Most: Sendable {
        let rows = Atomic(0)
        let polls = Atomic(0)
        let isOver = Atomic(false)
    }

    @Test
    func `M33: who reads a view all through a burst, in this process or another opening, never sees more rows than the cap`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var options = LedgerOptions(log: Self.quick, caps: ViewCaps(positions: 100))
        options.flushPolicy = FlushPolicy(quietPeriod: .milliseconds(1), ceiling: .milliseconds(3))
        let ledger = try await Ledger.create(at: path, options: options)
        let most = Most()
        let all = FetchDescriptor<PositionRow>()
        let polling = Task.detached {
            while !most.isOver.load(ordering: .acquiring) {
                let count = try ledger.fetchCount(all)
                if count > most.rows.load(ordering: .relaxed) { most.rows.store(count, ordering: .relaxed) }
                most.polls.add(1, ordering: .relaxed)
                await Task.yield()
            }
        }
        let source = try await ledger.log.source(named: "test")
        for lot in 0..<100 {
            _ = try await ledger.log.append((1...40).map { position(UInt32(lot) * 40 + $0).event(source) })
            if lot % 10 == 9 { try await ledger.flush() }
            await Task.yield()
        }
        try await ledger.catchUp()
        most.isOver.store(true, ordering: .releasing)
        try await polling.value
        #expect(most.rows.load(ordering: .relaxed) == 100 && most.polls.load(ordering: .relaxed) > 20)
        #expect(try ledger.fetchCount(all) == 100)
        let commits = await ledger.maintenance.projectorStatistics()["positions"]?.commits.values.reduce(0, +) ?? 0
        #expect(commits > 5, "a burst of many commits")
        try await ledger.close()
    }

    @Test func `M34: restarted every hundred packets, each view is capped as one that never was`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let caps = ViewCaps(
            nodes: 9, positions: 5, telemetry: 5, messages: 12, waypoints: 6, traceRoutes: 15, links: 15, gateways: 1,
            gatewayNodes: 12,
            mapReports: 5, sensors: 4, nodeHistory: 3)
        let options = LedgerOptions(log: Self.quick, caps: caps)
        let packets = RandomPackets().packets(1_500, seed: 61)
        for start in stride(from: 0, to: packets.count, by: 100) {
            let ledger =
                start == 0
                ? try await Ledger.create(at: path, options: options) : try await Ledger.open(at: path, options: options)
            try await append(Array(packets[start..<start + 100]), to: ledger)
            for (_, rows) in Dictionary(grouping: try ledger.positions(of: nil), by: \.node) { #expect(rows.count <= 5) }
            for (_, rows) in Dictionary(grouping: try ledger.messages(), by: \.thread) { #expect(rows.count <= 12) }
            for (_, rows) in Dictionary(grouping: try ledger.sensors(), by: \.node) { #expect(rows.count <= 4) }
            #expect(try ledger.waypoints().count <= 6 && ledger.traceRoutes().count <= 15 && ledger.links().count <= 15)
            try await ledger.close()
        }
        let restarted = try await Ledger.open(at: path, options: options)
        let once = try await Ledger.temporary(options: options)
        try await append(packets, to: once)
        for view in Ledger.viewNames where view != "packets" {
            let tables = try [restarted, once].map { ledger in
                try ledger.rowNames.filter { ledger.rows(of: $0)?.view == view }.flatMap { table in
                    try ledger.changes.rows(of: view, table: table, limit: 100_000).map {
                        "\(table) \($0.key) \($0.value ?? [])"
                    }
                }
            }
            #expect(tables[0] == tables[1], "\(view)")
            #expect(!tables[0].isEmpty || ["radios", "telemetry", ArchivedRow.view].contains(view), "\(view)")
        }
        try await restarted.close()
        try await once.close()
    }

    @Test func `X1: in a flood of 20,000 nodes favorites and newcomers stay, 10,000 in all`() async throws {
        var options = LedgerOptions(log: Self.quick)
        options.keepsIndexes = false
        let ledger = try await Ledger.temporary(options: options)
        let known = (UInt32(1)...50).map { Packet(from: 100 + $0, id: 1, rxTime: Self.start + $0, payload: Array("x".utf8)) }
        try await append(known, to: ledger)
        try await ledger.annotations.record((UInt32(1)...20).map { .favorite(100 + $0) })
        try await append((0..<20_000).map { Packet(from: 10_000 + $0, id: 1, rxTime: Self.start + 100 + $0) }, to: ledger)
        let numbers = Set(try ledger.nodes().map(\.number))
        #expect(numbers.count == 10_000)
        #expect((101...120).allSatisfy { numbers.contains($0) } && !(121...150).contains { numbers.contains(UInt32($0)) })
        #expect((10_000..<30_000).suffix(9_980).allSatisfy { numbers.contains($0) })
        // One that comes when the table is full, though its time is of long ago, has its time to be heard again.
        try await append([Packet(from: 77, id: 1, rxTime: Self.start - 50_000)], to: ledger)
        #expect(try ledger.node(77) != nil && ledger.nodes().count == 10_000)
        try await ledger.close()
    }

    @Test func `X1: of 5,400 waypoints the 5,000 that were changed last stay`() async throws {
        var options = LedgerOptions(log: Self.quick)
        options.keepsIndexes = false
        let ledger = try await Ledger.temporary(options: options)
        let packets = (UInt32(1)...5_400).map {
            Packet(from: 1_001, id: $0, rxTime: Self.start + $0, port: Port.waypoint, payload: Packet.waypoint($0, "w\($0)"))
        }
        try await append(packets, to: ledger)
        #expect(try ledger.waypoints().map(\.id).sorted() == Array(401...5_400))
        try await ledger.close()
    }

    @Test func `D20: a node that sends a thousand packets a second for a minute takes no row of another`() async throws {
        var options = LedgerOptions(log: Self.quick)
        options.keepsIndexes = false
        let ledger = try await Ledger.temporary(options: options)
        let others = (UInt32(1)...20).flatMap { node in
            [
                position(1, from: 2_000 + node), telemetry(2, kind: 2, from: 2_000 + node),
                Packet(from: 2_000 + node, id: 3, rxTime: Self.start, payload: Array("hello".utf8)),
                Packet(
                    from: 2_000 + node, id: 4, rxTime: Self.start, port: Port.waypoint,
                    payload: Packet.waypoint(node, "hut")),
            ]
        }
        try await append(others, to: ledger)
        let before = try ledger.nodes(RowQuery(newestFirst: false))
        let total: UInt32 = 60_000
        let second = total / 60
        for lot in 0..<UInt32(6) {
            try await append(
                (lot * total / 6..<(lot + 1) * total / 6).map { number in
                    number % 4 == 0
                        ? telemetry(100 + number, kind: 2, from: 6_666)
                        : position(100 + number, from: 6_666, at: 100 + number / second)
                }, to: ledger)
        }
        #expect(try ledger.nodes(RowQuery(newestFirst: false)).filter { $0.number != 6_666 } == before)
        for node in UInt32(2_001)...2_020 {
            #expect(try ledger.positions(of: node).count == 1 && ledger.telemetry(of: node).count == 1)
        }
        #expect(try ledger.messages().count == 20 && ledger.waypoints().count == 20)
        #expect(try ledger.positions(of: 6_666).count == 5_000)
        try await ledger.close()
    }

    @Test
    func
        `D2: a key that comes after ten thousand unreadable packets brings their messages, positions and nodes with their times`()
        async throws
    {
        // Everything is encrypted with a key that nobody has yet.
        let key = [UInt8](repeating: 0x42, count: 32)
        let late = Keyring(channels: [try ChannelKey(name: "Secret", psk: key)])
        var options = LedgerOptions(log: Self.quick)
        options.keepsIndexes = false
        let (ledger, knowing) = (try await Ledger.temporary(options: options), try await Ledger.temporary(options: options))
        try await knowing.keys.set(late)
        let count: UInt32 = 10_000
        for ledger in [ledger, knowing] {
            let source = try await ledger.log.source(named: "test")
            var batch = EventBatch()
            for id in 1...count {
                let node = 3_000 + id % 200
                var packet: Packet
                switch id % 3 {
                case 0: packet = position(id, from: node)
                case 1: packet = Packet(from: node, id: id, rxTime: Self.start + id, payload: Array("secret \(id)".utf8))
                default:
                    packet = Packet(
                        from: node, id: id, rxTime: Self.start + id, port: Port.nodeInfo, payload: Packet.user("node \(node)"))
                }
                packet.channel = "Secret"
                batch.append(try packet.encryptedEvent(late.channels[0], source))
            }
            try await ledger.log.append(batch)
            try await ledger.catchUp()
        }
        #expect(try ledger.messages().isEmpty && ledger.positions(of: nil).isEmpty)
        #expect(try ledger.nodes().allSatisfy { $0.longName.isEmpty && $0.unreadable > 0 })
        try await ledger.keys.set(late)
        try await ledger.catchUp()
        let texts = try ledger.messages(RowQuery(newestFirst: false))
        #expect(texts.map(\.time) == (1...count).filter { $0 % 3 == 1 }.map { Self.start + $0 })
        #expect(texts.first?.text == "secret 1")
        #expect(try Set(ledger.positions(of: nil).map(\.time)) == Set((1...count).filter { $0 % 3 == 0 }.map { Self.start + $0 }))
        #expect(try ledger.nodes().count == 200 && ledger.nodes().allSatisfy { $0.longName == "node \($0.number)" })
        for view in ["nodes", "positions", "messages", "nodehistory"] {
            #expect(try ledger.fetchAll(view) == knowing.fetchAll(view), "\(view)")
        }
        try await ledger.close()
        try await knowing.close()
    }
}

extension Ledger {
    /// The stored rows of a view's table of its name.
    fileprivate func fetchAll(_ view: String) throws -> [String] {
        try changes.rows(of: view, limit: 1_000_000).map { "\($0.key) \($0.value ?? [])" }
    }
}
