import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import TestKit
import Testing

/// What views keep of favorites.
struct FavoritesRows {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000

    private func walk(_ nodes: ClosedRange<UInt32>, _ times: Range<UInt32>) -> [Packet] {
        nodes.flatMap { node in
            times.map { time in
                Packet(
                    from: node, id: 100 + time, rxTime: Self.start + time, port: Port.position,
                    payload: Packet.position(Int32(time) + 1, 5))
            }
        }
    }

    @Test func `D21: a favorite keeps more rows from then on, and as many as others when it is no longer one`() async throws {
        var caps = ViewCaps(positions: 5)
        caps.favorites = NodeCaps(positions: 20)
        let ledger = try await ledger(of: walk(1_001...1_002, 0..<12), options: LedgerOptions(caps: caps))
        let source = try await ledger.log.source(named: "test")
        func counts(_ ledger: Ledger) throws -> [Int] { try [1_001, 1_002].map { try ledger.positions(of: $0).count } }
        #expect(try counts(ledger) == [5, 5])
        try await ledger.annotations.record(.favorite(1_001))
        _ = try await ledger.log.append(walk(1_001...1_002, 20..<32).map { $0.event(source) })
        try await ledger.catchUp()
        #expect(try counts(ledger) == [17, 5])
        _ = try await ledger.log.append(walk(1_001...1_002, 40..<52).map { $0.event(source) })
        try await ledger.catchUp()
        #expect(try counts(ledger) == [20, 5])
        let then = try ledger.asOf(.sequence(ledger.log.head.rawValue))
        try await ledger.annotations.record(.favorite(1_001, false))
        #expect(try counts(ledger) == [5, 5] && counts(then) == [20, 5])
        try await then.close()
        try await ledger.close()
    }

    @Test func `D21: unless it is said otherwise a favorite keeps 50,000 positions`() async throws {
        let ledger = try await ledger(of: [Packet(from: 1_001)])
        let source = try await ledger.log.source(named: "test")
        try await ledger.annotations.record(.favorite(1_001))
        _ = try await ledger.log.append(walk(1_001...1_002, 0..<50_001).map { $0.event(source) })
        try await ledger.catchUp()
        #expect(try [1_001, 1_002].map { try ledger.positions(of: $0).count } == [50_000, 5_000])
        try await ledger.close()
    }

    private func options(_ seed: UInt64) -> LedgerOptions {
        var caps = ViewCaps(positions: 4, telemetry: 3, sensors: 2)
        caps.favorites = NodeCaps(positions: 9, telemetry: 7, sensors: 5)
        caps.ofNode[1_001] = NodeCaps(positions: 12, telemetry: 1, sensors: 1)
        if seed.isMultiple(of: 3) { caps.positionDedupe = .within(meters: 3_000) }
        return LedgerOptions(log: EventLogOptions(clock: { Timestamp(seconds: 1_790_000_000) }), caps: caps)
    }

    private func event(_ index: Int, _ source: SourceID, _ random: inout SeededGenerator) -> NewEvent {
        let node = UInt32.random(in: 1_001...1_003, using: &random)
        if UInt32.random(in: 0..<12, using: &random) == 0 {
            let mark = Annotation.favorite(node, .random(using: &random))
            return NewEvent(mark.payload, encoding: .annotation, source: source)
        }
        let time = Self.start + UInt32.random(in: 0..<9_000, using: &random)
        var packet = Packet(from: node, id: UInt32(index) + 1, rxTime: time, port: Port.position)
        packet.payload = Packet.position(.random(in: 1...900_000, using: &random), 7)
        switch UInt32.random(in: 0..<3, using: &random) {
        case 0: (packet.port, packet.payload) = (Port.rangeTest, Array("seq \(index)".utf8))
        case 1: (packet.port, packet.payload) = (Port.telemetry, [0x12, 2, 8, UInt8(index % 100)])
        default: break
        }
        return packet.event(source)
    }

    private func answers(_ ledger: Ledger) throws -> [String] {
        let rows = try (UInt32(1_001)...1_003).map { try "\(ledger.positions(of: $0))\(ledger.telemetry(of: $0))" }
        return try rows + ["positions", "telemetry", "sensors"].map { try ledger.maintenance.digest(of: $0) }
    }

    @Test(arguments: 1...9)
    func `D21 D22: what favorites keep does not depend on flushes and restarts, nor on the later events of which it is asked`(
        seed: UInt64
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var random = SeededGenerator(seed: seed)
        var ledger = try await Ledger.create(at: path, options: options(seed))
        var source = try await ledger.log.source(named: "test")
        let events = (0..<Int.random(in: 200...400, using: &random)).map { event($0, source, &random) }
        var next = 0
        while next < events.count {
            let count = min(Int.random(in: 1...40, using: &random), events.count - next)
            _ = try await ledger.log.append(Array(events[next..<next + count]))
            next += count
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try await ledger.catchUp()
            case 1:
                try await ledger.close()
                ledger = try await Ledger.open(at: path, options: options(seed))
            default: break
            }
        }
        try await ledger.catchUp()
        let incremental = try answers(ledger)
        for _ in 0..<3 {
            let count = Int.random(in: 1..<events.count, using: &random)
            let short = try await Ledger.temporary(options: options(seed))
            source = try await short.log.source(named: "test")
            _ = try await short.log.append(Array(events.prefix(count)))
            try await short.catchUp()
            let then = try ledger.asOf(.sequence(UInt64(count)))
            #expect(try answers(then) == answers(short), "seed \(seed), \(count) events")
            try await then.close()
            try await short.close()
        }
        try await ledger.close()
        try FileManager.default.removeItem(atPath: path + "/views")
        let again = try await Ledger.open(at: path, options: options(seed))
        try await again.catchUp()
        #expect(try answers(again) == incremental, "seed \(seed)")
        try await again.close()
    }
}
