import EventLog
import MeshLedger
import Meshtastic
import Testing

struct Links {
    private typealias Packet = MeshPacketBuilder

    private static let start: UInt32 = 1_780_000_000

    /// A packet that the gateway heard directly, unless it is changed.
    private func direct(_ seconds: UInt32 = 0, snr: Float = 5.5, _ change: (inout Packet) -> Void = { _ in }) -> Packet {
        var packet = Packet(
            from: 1_001, id: 500 + seconds, rxTime: Self.start + seconds, payload: Array("a".utf8), gateway: "!00000011")
        (packet.hopStart, packet.hopLimit, packet.snr) = (3, 3, snr)
        change(&packet)
        return packet
    }

    private func links(_ packets: [Packet], options: LedgerOptions = LedgerOptions()) async throws -> [LinkRow] {
        let ledger = try await ledger(of: packets, options: options)
        let rows = try ledger.links(RowQuery(newestFirst: false))
        for row in rows { #expect(try ledger.link(hearer: row.hearer, heard: row.heard) == row) }
        try await ledger.close()
        return rows
    }

    @Test func `a gateway that hears a packet before any hop is a link`() async throws {
        let rows = try await links([direct(), direct(60, snr: -7.25)])
        #expect(rows.map { [$0.hearer, $0.heard] } == [[0x11, 1_001]])
        #expect(rows.first.map { ($0.direct, $0.reported, $0.traced) == (2, 0, 0) } == true)
        #expect(rows.first.map { ($0.snr, $0.time, $0.firstTime) == (-7.25, Self.start + 60, Self.start) } == true)
        #expect(rows.first.map { ($0.firstSequence, $0.sequence, $0.evidence) == (1, 2, .direct) } == true)
    }

    @Test func `each gateway's reception counts, of an unreadable packet, too`() async throws {
        let rows = try await links([direct(), direct { $0.gateway = "!00000012" }, direct(1) { $0.gateway = "!00000012" }])
        #expect(rows.map { [UInt64($0.hearer), $0.direct] } == [[0x11, 1], [0x12, 2]])
    }

    @Test func `hops, MQTT, relays, the gateway's own packets and receptions without a strength are no links`() async throws {
        let none = try await links([
            direct(1) { $0.hopLimit = 2 }, direct(2) { $0.isViaMQTT = true }, direct(3) { $0.relayNode = 0x77 },
            direct(4) { $0.from = 0x11 }, direct(5, snr: 0), direct(6) { ($0.hopStart, $0.hopLimit) = (0, 0) },
            direct(7) { ($0.hopStart, $0.hopLimit) = (9, 9) }, direct(8, snr: .nan), direct(9) { $0.gateway = "" },
        ])
        #expect(none.isEmpty)
        // A node is its own relay at the first sending; a number that ends in 00 is named by ff.
        let own = try await links([
            direct(1) { $0.relayNode = 1_001 & 0xff }, direct(2) { ($0.from, $0.relayNode) = (0x1000_0100, 0xff) },
        ])
        #expect(own.map(\.heard) == [1_001, 0x1000_0100])
    }

    @Test func `a node's list of its neighbours is links that it hears`() async throws {
        let list: [(node: UInt32, snr: Float)] = [
            (2_001, -3.5), (0, 1), (NodeID.broadcast, 1), (1_001, 1), (2_002, .infinity), (2_003, 4),
        ]
        let rows = try await links([
            Packet(from: 1_001, port: Port.neighborInfo, payload: Packet.neighbors(of: 1_001, list)),
            Packet(from: 1_001, port: Port.neighborInfo, payload: Packet.neighbors(of: 1_001, list), gateway: "!00000012"),
        ])
        #expect(rows.map { [$0.hearer, $0.heard] } == [[1_001, 2_001], [1_001, 2_003]])
        #expect(rows.map(\.snr) == [-3.5, 4] && rows.allSatisfy { $0.evidence == .reported && $0.count == 1 })
    }

    @Test func `a trace route gives the links that it passed, there and back`() async throws {
        let unknown = UInt32.max
        let answer = Packet(
            from: 1_009, to: 1_001, port: Port.traceroute,
            payload: Packet.route([1_002, unknown, 1_003], [4, 8, 12, -16], back: [1_004], [20, -128]), requestID: 7)
        let rows = try await links([answer])
        #expect(rows.map { [$0.hearer, $0.heard] } == [[1_002, 1_001], [1_004, 1_009], [1_009, 1_003]])
        #expect(rows.map(\.snr) == [1, 5, -4] && rows.allSatisfy { $0.traced == 1 })
        let question = Packet(from: 1_001, to: 1_009, port: Port.traceroute, payload: Packet.route([1_002], [4]))
        #expect(try await links([question]).map(\.hearer) == [1_002])
        // Strengths of a wrong number are of nobody.
        let odd = Packet(from: 1_001, to: 1_009, port: Port.traceroute, payload: Packet.route([1_002, 1_003], [4]))
        #expect(try await links([odd]).isEmpty)
    }

    @Test func `how well it was heard over time is kept for each quarter of an hour, the newest 128`() async throws {
        let quarter = 900 - Self.start % 900
        let hearings = [
            direct(quarter, snr: 1), direct(quarter + 899, snr: 2), direct(quarter + 901, snr: 3), direct(quarter + 900, snr: 4),
            direct(quarter + 1_500, snr: 5),
        ]
        let close = try await links(hearings)
        #expect(close.first?.samples.map(\.snr) == [1, 4])
        #expect(close.first?.samples.map(\.time) == [Self.start + quarter, Self.start + quarter + 900])
        #expect(close.first?.snr == 5)
        let long = try await links((0..<130).map { direct(900 * $0, snr: Float($0) + 1) })
        #expect(long.first?.samples.map(\.snr) == (2..<130).map { Float($0) + 1 })
        #expect(long.first?.direct == 130)
    }

    @Test func `links are asked for by either end and time, at most the cap of them`() async throws {
        let packets = [
            direct(1), direct(2) { $0.from = 1_002 }, direct(3) { $0.gateway = "!00000012" }, direct(4),
            direct(5) { ($0.from, $0.gateway) = (0x11, "!00000013") },
        ]
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(links: 3)))
        func ends(_ rows: [LinkRow]) -> [[UInt32]] { rows.map { [$0.hearer, $0.heard] } }
        #expect(try ends(ledger.links()) == [[0x13, 0x11], [0x11, 1_001], [0x12, 1_001]])
        #expect(try ends(ledger.links(of: 0x11)) == [[0x13, 0x11], [0x11, 1_001]])
        #expect(try ends(ledger.links(hearer: 0x11)) == [[0x11, 1_001]])
        #expect(try ends(ledger.links(heard: 1_001, RowQuery(limit: 1))) == [[0x11, 1_001]])
        #expect(try ends(ledger.links(RowQuery(until: Timestamp(seconds: Int64(Self.start) + 4)))) == [[0x12, 1_001]])
        try await ledger.close()
    }
}
