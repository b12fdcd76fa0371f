import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// The rows of a node as of an event from which its rows of then have gone since, against a ledger from which none goes.
///
/// The index of events is in blocks of 16,384: who looks for the newest rows passes over blocks that cannot have any.
struct HistoricalSeriesRows {
    private typealias Packet = MeshPacketBuilder

    private static let block = 16_384
    private static let start: UInt32 = 1_780_000_000
    private static let nodes: ClosedRange<UInt32> = 1_001...1_004

    private static func position(
        _ node: UInt32, _ id: UInt32, received: UInt32, fix: UInt32 = 0, sent: UInt32 = 0
    ) -> Packet {
        var position = Position()
        (position.latitudeE7, position.longitudeE7) = (Int32(truncatingIfNeeded: id) + 1, 7)
        (position.timestamp, position.time) = (fix, sent)
        var writer = WireWriter()
        position.encode(to: &writer)
        return Packet(from: node, id: id, rxTime: received, port: Port.position, payload: writer.bytes)
    }

    /// What a node replays of another, whose time is believed however long ago or ahead it is.
    private static func replayed(_ node: UInt32, at time: UInt32) -> Packet {
        var packet = position(node, ReplayedState.id(node: node, rxTime: time, kind: 3), received: time, sent: time)
        (packet.priority, packet.transport) = (10, 1)
        return packet
    }

    private static func filler(_ source: SourceID, at time: UInt32) -> NewEvent {
        Packet(from: 9, id: 1, rxTime: time, payload: Array("hello".utf8)).event(source)
    }

    private func ledger(_ events: [NewEvent], positions: Int, telemetry: Int) async throws -> Ledger {
        let log = EventLogOptions(clock: { Timestamp(seconds: 1_790_000_000) })
        let ledger = try await Ledger.temporary(
            options: LedgerOptions(log: log, caps: ViewCaps(positions: positions, telemetry: telemetry)))
        _ = try await ledger.log.source(named: "test")
        for start in stride(from: 0, to: events.count, by: 4_096) {
            _ = try await ledger.log.append(Array(events[start..<min(start + 4_096, events.count)]))
        }
        try await ledger.catchUp()
        return ledger
    }

    // MARK: Edges

    @Test func `D22: rows of a past block count whose senders' clocks were ahead, or whose times were replayed`() async throws {
        let source = SourceID(rawValue: 1)
        func block(_ packets: [Packet], at time: UInt32) -> [NewEvent] {
            packets.map { $0.event(source, at: time) } + (packets.count..<Self.block).map { _ in Self.filler(source, at: time) }
        }
        let start = Self.start
        let old = [
            // As late as is believed, one more, and a time of its own.
            Self.position(1_001, 1, received: start, fix: start + 300),
            Self.position(1_002, 2, received: start, fix: start + 301),
            Self.replayed(1_003, at: start + 500_000), Self.position(1_004, 3, received: start - 60),
            Self.position(1_005, 4, received: start - 60), Self.position(1_005, 5, received: start - 50),
        ]
        var later = Self.nodes.flatMap { node in
            (0..<1_500).map { Self.position(node, node * 10_000 + $0, received: start + $0 / 6 + (node > 1_002 ? 1_000 : 0)) }
        }
        // Many packets of one that give few rows.
        later += (UInt32(0)..<1_500).map {
            var packet = Self.position(1_005, 5_000 + $0, received: start + 1_000)
            if $0 < 1_498 { packet.payload = [] }
            return packet
        }
        let newest = (Self.nodes.lowerBound...1_005).flatMap { node in
            (1...4).map { Self.position(node, node * 10 + $0, received: start + 600_000 + $0) }
        }
        let events = block(old, at: start) + later.map { $0.event(source) }
        let ledger = try await ledger(events + newest.map { $0.event(source) }, positions: 3, telemetry: 3)
        let then = try ledger.asOf(.sequence(UInt64(events.count)))
        let expected = [
            [300, 249, 249], [249, 249, 249], [500_000, 1_249, 1_249], [1_249, 1_249, 1_249], [1_000, 1_000, -50],
        ]
        for (node, times) in zip(Self.nodes.lowerBound...1_005, expected) {
            #expect(try then.positions(of: node).map { Int($0.time) - Int(start) } == times, "\(node)")
        }
        try await then.close()
        try await ledger.close()
    }

    @Test func `D22: a node that was a favorite before its events were dropped has had its larger cap since`() async throws {
        var caps = ViewCaps(positions: 5)
        caps.favorites = NodeCaps(positions: 1_000)
        let log = EventLogOptions(clock: { Timestamp(seconds: Int64(Self.start) + 10_000) })
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: log, caps: caps))
        let source = try await ledger.log.source(named: "test")
        func walk(_ times: Range<UInt32>) -> [NewEvent] {
            times.map { Self.position(1_001, $0 + 1, received: Self.start + $0).event(source) }
        }
        _ = try await ledger.log.append([Packet(from: 1_001, payload: Array("hello".utf8)).event(source)])
        try await ledger.catchUp()
        try await ledger.annotations.record(.favorite(1_001))
        _ = try await ledger.log.append((0..<300).map { _ in Self.filler(source, at: Self.start) })
        try await ledger.catchUp()
        try await ledger.retention.retain(through: EventSequence(256))
        _ = try await ledger.log.append(walk(0..<300) + (0..<Self.block).map { _ in Self.filler(source, at: Self.start) })
        _ = try await ledger.log.append(walk(1_000..<1_900))
        let moment = ledger.log.head
        _ = try await ledger.log.append(walk(2_000..<2_020))
        try await ledger.annotations.record(.favorite(1_001, false))
        try await ledger.catchUp()
        #expect(try ledger.positions(of: 1_001).count == 5)
        let then = try ledger.asOf(.sequence(moment.rawValue))
        let times = (Array(200..<300) + Array(1_000..<1_900)).map { Self.start + UInt32($0) }
        #expect(try then.positions(of: 1_001, RowQuery(newestFirst: false)).map(\.time) == times)
        try await then.close()
        try await ledger.close()
    }

    // MARK: Random

    /// An event of one of the nodes, received about then: by its own clock, by none, of late, ahead or replayed.
    private func event(_ id: UInt32, about base: UInt32, _ source: SourceID, _ random: inout SeededGenerator) -> NewEvent {
        let node = UInt32.random(in: Self.nodes, using: &random)
        let received = base + UInt32.random(in: 0..<4_000, using: &random)
        func stamp() -> UInt32 {
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<8: received + UInt32.random(in: 250...320, using: &random)
            case 8: received - UInt32.random(in: 0...90_000, using: &random)
            case 9..<16: received
            default: 0
            }
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            var writer = WireWriter()
            writer.fixed32(1, stamp())
            writer.message(Bool.random(using: &random) ? 2 : 3) { $0.varint(1, UInt64(id % 100)) }
            return Packet(from: node, id: id, rxTime: received, port: Port.telemetry, payload: writer.bytes).event(source)
        }
        if Int.random(in: 0..<60, using: &random) == 0 {
            return Self.replayed(node, at: Self.start + UInt32.random(in: 0...900_000, using: &random)).event(
                source, at: received)
        }
        var packet = Self.position(node, id, received: received, fix: stamp(), sent: stamp())
        if Int.random(in: 0..<10, using: &random) == 0 { packet.payload = [] }
        // Nobody knows when the rest was received, so that these may be later than all others.
        guard base == Self.start, Int.random(in: 0..<500, using: &random) == 0 else { return packet.event(source) }
        return NewEvent(
            packet.envelope(), encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue), source: source,
            reception: .unrecorded)
    }

    /// Files of some blocks each, in any order.
    private func events(_ random: inout SeededGenerator) -> [NewEvent] {
        let source = SourceID(rawValue: 1)
        let bases = (0..<5).map { Self.start + UInt32($0) * 3_600 }.shuffled(using: &random)
        var id: UInt32 = 10
        return bases.flatMap { base in
            (0..<Self.block - 1_000).map { _ in
                guard Int.random(in: 0..<8, using: &random) == 0 else { return Self.filler(source, at: base) }
                id += 1
                return event(id, about: base, source, &random)
            }
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `D22: rows that have gone since are those of then, whatever the senders' clocks said`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let events = events(&random)
        let cap = Int.random(in: 20...600, using: &random)
        let all = try await ledger(events, positions: events.count, telemetry: events.count)
        let capped = try await ledger(events, positions: cap, telemetry: cap / 2)
        let positions = try Self.nodes.map { try all.positions(of: $0) }
        let telemetry = try Self.nodes.map { try all.telemetry(of: $0) }
        for count in (0..<12).map({ _ in UInt64.random(in: 5_000...UInt64(events.count), using: &random) }) {
            let then = try capped.asOf(.sequence(count))
            for (index, node) in Self.nodes.enumerated() {
                let known = positions[index].filter { $0.sequence <= count }.prefix(cap)
                #expect(try then.positions(of: node) == Array(known), "seed \(seed), event \(count), node \(node)")
                for kind in [TelemetryKind.device, .environment] {
                    let known = telemetry[index].filter { $0.sequence <= count && $0.kind == kind }.prefix(cap / 2)
                    #expect(
                        try then.telemetry(of: node, kind: kind) == Array(known), "seed \(seed), event \(count), node \(node)")
                }
            }
            try await then.close()
        }
        try await all.close()
        try await capped.close()
    }
}
