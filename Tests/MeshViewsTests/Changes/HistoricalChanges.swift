import EventLog
import Foundation
import MeshLedger
import Projections
import Synchronization
import TestKit
import Testing

/// What changed in a stretch of time, and since an event.
@Suite(.timeLimit(.minutes(40))) struct HistoricalChanges {
    private static func packets(_ count: Int, seed: UInt64, nodes: Range<UInt32> = 5_000..<5_020) -> [MeshPacketBuilder] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            var packet = MeshPacketBuilder(
                from: UInt32.random(in: nodes, using: &random), id: UInt32(seed) * 100_000 + UInt32(index) + 1,
                rxTime: 1_780_000_000 + UInt32(seed) * 50_000 + UInt32(index) * 5)
            packet.port = [Port.position, Port.nodeInfo, Port.text][index % 3]
            packet.payload =
                switch packet.port {
                case Port.position: MeshPacketBuilder.position(Int32.random(in: 1...9_000, using: &random), 7)
                case Port.nodeInfo: MeshPacketBuilder.user("node \(packet.from)")
                default: Array("text \(index)".utf8)
                }
            return packet
        }
    }

    /// - Returns: the last event, when the first arrived, and when the last did.
    private static func append(_ packets: [MeshPacketBuilder], to ledger: Ledger) async throws -> (
        EventSequence, ClosedRange<Timestamp>
    ) {
        let source = try await ledger.log.source(named: "test")
        let before = ledger.log.head
        let start = try ledger.log.event(before)?.header.arrivalTime ?? Timestamp(microseconds: 0)
        // Those that come next arrive later.
        while Date().timeIntervalSince1970 * 1e6 <= Double(start.microseconds) + 1 { await Task.yield() }
        _ = try await ledger.log.append(
            packets.map { packet in
                var event = packet.event(source)
                event.reception = .live
                return event
            })
        try await ledger.catchUp()
        let first = try #require(try ledger.log.event(EventSequence(before.rawValue + 1))).header.arrivalTime
        let last = try #require(try ledger.log.event(ledger.log.head)).header.arrivalTime
        return (ledger.log.head, first...last)
    }

    private static func rows(_ ledger: Ledger, _ view: String) throws -> [[UInt8]: [UInt8]] {
        try Dictionary(uniqueKeysWithValues: ledger.changes.rows(of: view, limit: .max).map { ($0.key, $0.value ?? []) })
    }

    @Test func `G27: the changes of a time are those of its events, deletions among them`() async throws {
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        options.caps.positions = 6
        options.caps.nodes = 15
        let ledger = try await Ledger.temporary(options: options)
        _ = try await Self.append(Self.packets(240, seed: 1), to: ledger)
        var (deletions, seen) = (0, 0)
        for seed in 2...3 as ClosedRange<UInt64> {
            let views = ["positions", "nodes", "messages"]
            let before = try views.map { try Self.rows(ledger, $0) }
            let (_, times) = try await Self.append(
                Self.packets(90, seed: seed, nodes: 5_000..<5_000 + UInt32(seed) * 9), to: ledger)
            let after = try views.map { try Self.rows(ledger, $0) }
            _ = try await Self.append(Self.packets(60, seed: seed + 10), to: ledger)
            for (view, (old, new)) in zip(views, zip(before, after)) {
                let changes = try ledger.changes.fetch(of: view, in: times).filter { $0.table == view }
                let wanted = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
                #expect(Set(changes.map(\.key)) == wanted && changes.count == wanted.count, "\(view), \(seed)")
                for change in changes { #expect(change.old == old[change.key] && change.new == new[change.key]) }
                deletions += changes.count { $0.new == nil }
                seen += changes.count
            }
        }
        #expect(deletions > 20 && seen > 100)
        try await ledger.close()
    }

    @Test func `G28: rows that changed since an event are read without the others, also after a rebuild and a restart`()
        async throws
    {
        let folder = try TemporaryFolder()
        var ledger = try await Ledger.create(at: folder.path + "/ledger")
        let (first, _) = try await Self.append(Self.packets(300, seed: 1), to: ledger)
        let old = try Self.rows(ledger, "nodes")
        let (second, _) = try await Self.append(Self.packets(6, seed: 2, nodes: 5_003..<5_005), to: ledger)
        func check() throws {
            let new = try Self.rows(ledger, "nodes")
            let changed = Set(new.keys.filter { old[$0] != new[$0] })
            let changes = try ledger.changes.fetch(of: "nodes", sinceEvent: first).changes.filter { $0.table == "nodes" }
            #expect(Set(changes.map(\.key)) == changed && changed.count == 2 && new.count == 20)
            #expect(changes.allSatisfy { $0.value == new[$0.key] })
            #expect(try Set(ledger.changes.rows(NodeRow.self, sinceEvent: first).map(\.number)) == [5_003, 5_004])
            #expect(try ledger.changes.rows(NodeRow.self, sinceEvent: second).isEmpty)
            #expect(try ledger.changes.rows(MessageRow.self, sinceEvent: first).allSatisfy { $0.sequence > first.rawValue })
        }
        try check()
        try await ledger.close()
        ledger = try await Ledger.open(at: folder.path + "/ledger")
        try check()
        try await ledger.maintenance.rebuild()
        try check()
        try await ledger.close()
    }

    @Test func `G28: what is no longer kept is reported`() async throws {
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        options.changesKept = 40
        let ledger = try await Ledger.temporary(options: options)
        let (first, _) = try await Self.append(Self.packets(60, seed: 1), to: ledger)
        var last = first
        for seed in 2...8 as ClosedRange<UInt64> { (last, _) = try await Self.append(Self.packets(30, seed: seed), to: ledger) }
        let lost = #expect(throws: LedgerError.self) { try ledger.changes.rows(PositionRow.self, sinceEvent: first) }
        #expect(lost?.code == .changesLost)
        _ = try await Self.append(Self.packets(9, seed: 20), to: ledger)
        #expect(try ledger.changes.rows(PositionRow.self, sinceEvent: last).count == 3)
        try await ledger.close()
    }

    @Test func `G29: what watches changes sees each row that is stored and removed, and may not write`() async throws {
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        options.caps.positions = 2
        let ledger = try await Ledger.temporary(options: options)
        _ = try await Self.append(Self.packets(30, seed: 1, nodes: 7..<8), to: ledger)
        let rows = Mutex(try Self.rows(ledger, "positions"))
        let stored = Mutex(0)
        let removed = Mutex(0)
        let start = try ledger.changes.position(of: "positions")
        let watching = Task {
            try await ledger.changes.forEach(of: "positions", since: start) { change in
                rows.withLock { $0[change.key] = change.value }
                change.value == nil ? removed.withLock { $0 += 1 } : stored.withLock { $0 += 1 }
            }
        }
        for seed in 2...4 as ClosedRange<UInt64> {
            _ = try await Self.append(Self.packets(9, seed: seed, nodes: 7..<8), to: ledger)
        }
        let wanted = try Self.rows(ledger, "positions")
        try await eventually { rows.withLock { $0 } == wanted }
        watching.cancel()
        try await watching.value
        #expect(stored.withLock { $0 } >= 2 && removed.withLock { $0 } >= 2)
        let writing = await #expect(throws: EventLogError.self) {
            try await ledger.changes.forEach(of: "positions", since: start) { _ in
                let source = try await ledger.log.source(named: "test")
                _ = try await ledger.log.append(Self.packets(1, seed: 9).map { $0.event(source) })
                throw CancellationError()
            }
        }
        #expect(writing?.code == .mutationDuringEnumeration)
        try await ledger.close()
    }
}
