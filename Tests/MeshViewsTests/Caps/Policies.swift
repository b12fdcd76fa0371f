import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import TestKit
import Testing

/// What the recipe's options keep and leave out.
struct Policies {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000
    /// A hundredth of a second of arc north, in degrees times 10,000,000: about 0.31 m.
    private static let metre: Int32 = 90

    private func position(
        _ id: UInt32, _ latitude: Int32, from: UInt32 = 1_001, at seconds: UInt32? = nil, precision: UInt32 = 32
    ) -> Packet {
        Packet(
            from: from, id: id, rxTime: Self.start + (seconds ?? id), port: Port.position,
            payload: Packet.position(400_000_000 + latitude, 80_000_000, precision: precision))
    }

    private func caps(_ change: (inout ViewCaps) -> Void) -> LedgerOptions {
        var caps = ViewCaps()
        change(&caps)
        return LedgerOptions(caps: caps)
    }

    @Test func `X2: a position within nine metres takes over the latest row; the log and a view without the policy have all`()
        async throws
    {
        let packets = [0, 5, 8, 12, 30, 31].enumerated().map { position(UInt32($0) + 1, Self.metre * Int32($1)) }
        let thinned = try await ledger(of: packets, options: caps { $0.positionDedupe = .within(meters: 9) })
        let rows = try thinned.positions(of: 1_001, RowQuery(newestFirst: false))
        #expect(rows.map(\.sequence) == [3, 4, 6])
        #expect(rows.map { $0.latitudeE7 - 400_000_000 } == [0, 12, 30].map { Self.metre * $0 })
        #expect(rows.map(\.since) == [Self.start + 1, 0, Self.start + 5] && thinned.log.head.rawValue == 6)
        try await thinned.close()
        let whole = try await ledger(of: packets)
        #expect(try whole.positions(of: 1_001).count == 6)
        #expect(try whole.positions(of: 1_001).allSatisfy { $0.since == 0 })
        try await whole.close()
    }

    @Test func `X3: of positions of reduced precision only the newest stays`() async throws {
        let packets = [
            position(1, 0), position(2, 900_000, precision: 14), position(3, 1_800_000, precision: 14),
            position(4, 2_700_000, precision: 13),
            position(5, 3_000_000), position(6, 4_000_000, precision: 14), position(7, 100, at: 1, precision: 14),
        ]
        let ledger = try await ledger(of: packets, options: caps { $0.reducedPrecisionKeepsHistory = false })
        #expect(try ledger.positions(of: 1_001, RowQuery(newestFirst: false)).map(\.sequence) == [1, 7, 4, 5, 6])
        try await ledger.close()
    }

    @Test func `D21: chosen nodes keep more positions, telemetry and sensor rows, or fewer`() async throws {
        let options = caps { caps in
            (caps.positions, caps.sensors) = (5, 5)
            caps.ofNode[1_002] = NodeCaps(positions: 20, sensors: 20)
            caps.ofNode[1_003] = NodeCaps(positions: 2)
        }
        let packets = (1...30).flatMap { id in
            (1_001...1_003).flatMap { node in
                [
                    position(UInt32(id), Int32(id), from: node),
                    Packet(
                        from: node, id: 100 + UInt32(id), rxTime: Self.start, port: Port.rangeTest, payload: Array("seq".utf8)),
                ]
            }
        }
        let ledger = try await ledger(of: packets, options: options)
        #expect(try [1_001, 1_002, 1_003].map { try ledger.positions(of: $0).count } == [5, 20, 2])
        #expect(try [1_001, 1_002, 1_003].map { try ledger.sensors(of: $0).count } == [5, 20, 5])
        let plain = ViewCaps()
        #expect(try await ledger.maintenance.views().first { $0.name == "positions" }?.isStale == false && plain.ofNode.isEmpty)
        try await ledger.close()
    }

    @Test func `X1: kept nodes stay in a flood of others`() async throws {
        let flood = (0..<3_000).map { Packet(from: 10_000 + $0, id: 1, rxTime: Self.start + $0, payload: Array("x".utf8)) }
        let first = [Packet(from: 7, id: 1, rxTime: Self.start - 90), Packet(from: 8, id: 1, rxTime: Self.start - 80)]
        let ledger = try await ledger(
            of: first + flood,
            options: caps { caps in
                caps.nodes = 100
                caps.keptNodes = [7]
            })
        #expect(try ledger.nodes().count == 100)
        #expect(try ledger.node(7) != nil && ledger.node(8) == nil)
        try await ledger.close()
    }

    @Test func `D20: a flood of one node takes no row of another`() async throws {
        let quiet =
            (1...5).map { position($0, Int32($0), from: 1_002) } + [Packet(from: 1_002, id: 9, payload: Array("hello".utf8))]
        let flood = (1...4_000).map { position($0, Int32($0), from: 6_666, at: $0 / 1_000) }
        let ledger = try await ledger(of: quiet + flood + quiet, options: caps { $0.positions = 50 })
        #expect(try ledger.positions(of: 6_666).count == 50)
        #expect(try ledger.positions(of: 1_002).count == 5 && ledger.node(1_002)?.packets == 6 && ledger.messages().count == 1)
        try await ledger.close()
    }

    @Test(arguments: 1...6) func `what a policy leaves does not depend on flushes and restarts, and another policy rebuilds`(
        seed: UInt64
    )
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var random = SeededGenerator(seed: seed)
        let options = caps { caps in
            caps.positions = 6
            caps.ofNode[1_002] = NodeCaps(positions: 9)
            caps.positionDedupe = .within(meters: 9)
            caps.reducedPrecisionKeepsHistory = seed % 2 == 0
        }
        let packets = (1...400).map { id in
            position(
                UInt32(id), Self.metre * Int32.random(in: 0...40, using: &random),
                from: UInt32.random(in: 1_001...1_003, using: &random),
                at: UInt32(id) + UInt32.random(in: 0...4, using: &random),
                precision: [32, 14][Int.random(in: 0...1, using: &random)])
        }
        var ledger = try await Ledger.create(at: path, options: options)
        var next = 0
        while next < packets.count {
            let count = min(packets.count - next, Int.random(in: 1...40, using: &random))
            let source = try await ledger.log.source(named: "test")
            try await ledger.log.append(packets[next..<next + count].map { $0.event(source) })
            next += count
            if Bool.random(using: &random) { try await ledger.catchUp() }
            if Int.random(in: 0..<5, using: &random) == 0 {
                try await ledger.close()
                ledger = try await Ledger.open(at: path, options: options)
            }
        }
        try await ledger.catchUp()
        let (digest, rows) = (try ledger.maintenance.digest(of: "positions"), try ledger.positions(of: nil))
        #expect(rows.count > 12 && rows.contains { $0.since != 0 })
        try await ledger.maintenance.rebuild(["positions"])
        #expect(try ledger.maintenance.digest(of: "positions") == digest, "seed \(seed)")
        try await ledger.close()
        let other = try await Ledger.open(at: path, options: LedgerOptions(caps: ViewCaps()))
        try await other.catchUp()
        #expect(try other.positions(of: nil).count == 400)
        try await other.close()
    }

    @Test func `M7: closing a ledger writes every view, whatever its timers wait for`() async throws {
        let folder = try TemporaryFolder()
        let hour = Duration.seconds(3_600)
        let options = LedgerOptions(flushPolicy: FlushPolicy(quietPeriod: hour, ceiling: hour, immediateInterval: hour))
        for round in 0..<3 as Range<UInt32> {
            let path = folder.path + "/\(round).ledger"
            let ledger = try await Ledger.create(at: path, options: options)
            let source = try await ledger.log.source(named: "test")
            // At first all that is immediate is written at once; what comes then waits for an hour.
            for part in 0..<2 as Range<UInt32> {
                let packets = (1...20).map { position(100 * part + $0, 100 * Self.metre * Int32($0), from: 1_001 + round * $0) }
                let text = Packet(id: 100 * part + 50, payload: Array("text \(part)".utf8))
                _ = try await ledger.log.append((packets + [text]).map { $0.event(source) })
                if part == 0 { try await ledger.flush() }
            }
            try await ledger.close()
            let reader = try await Ledger.open(at: path, options: LedgerOptions(access: .readOnly))
            for view in try await reader.maintenance.views() { #expect(view.checkpoint == 42, "\(view.name)") }
            #expect(try reader.messages().count == 2)
            #expect(try reader.nodes().reduce(0) { $0 + $1.packets } == 42)
            try await reader.close()
        }
    }
}
