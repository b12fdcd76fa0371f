import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import TestKit
import Testing
import ViewQuery

struct Recovery {
    private static let views = Ledger.viewNames
    private let traffic = RandomPackets()

    private func digests(_ ledger: Ledger) throws -> [String] { try Self.views.map { try ledger.maintenance.digest(of: $0) } }

    @Test(arguments: 1...3) func `K13: any pattern of flushes and reopenings gives the rows of one full fold`(seed: UInt64)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let options = LedgerOptions(
            caps: ViewCaps(
                nodes: 12, positions: 10, telemetry: 10, messages: 15, waypoints: 8, traceRoutes: 20, links: 15,
                gateways: 1, gatewayNodes: 12, mapReports: 5, sensors: 4, nodeHistory: 3))
        var random = SeededGenerator(seed: seed &* 77)
        let all = traffic.packets(600, seed: seed)
        var ledger = try await Ledger.create(at: path, options: options)
        var next = 0
        while next < all.count {
            let count = min(all.count - next, Int.random(in: 1...90, using: &random))
            let source = try await ledger.log.source(named: "test")
            _ = try await ledger.log.append(all[next..<next + count].map { $0.event(source) })
            next += count
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try await ledger.catchUp()
            case 1:
                try await ledger.close()
                ledger = try await Ledger.open(at: path, options: options)
            default: break
            }
        }
        try await ledger.catchUp()
        let incremental = try digests(ledger)
        try await ledger.close()
        try FileManager.default.removeItem(atPath: path + "/views")
        let again = try await Ledger.open(at: path, options: options)
        try await again.catchUp()
        #expect(try digests(again) == incremental, "seed \(seed)")
        try await again.close()
    }

    @Test func `M34: messages without an identifier count for the cap after the ledger was opened again`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let options = LedgerOptions(caps: ViewCaps(messages: 10))
        for part in 0..<2 {
            let ledger =
                part == 0
                ? try await Ledger.create(at: path, options: options) : try await Ledger.open(at: path, options: options)
            let source = try await ledger.log.source(named: "test")
            let texts = (0..<8).map { index in
                var packet = MeshPacketBuilder(id: 0, rxTime: 1_780_000_000 + UInt32(part * 8 + index))
                packet.payload = Array("message \(part * 8 + index)".utf8)
                return packet.event(source)
            }
            _ = try await ledger.log.append(texts)
            try await ledger.catchUp()
            if part == 1 { #expect(try ledger.messages().map(\.text) == (6..<16).reversed().map { "message \($0)" }) }
            try await ledger.close()
        }
    }

    @Test func `a view that has seen a tail which the log lost is built again`() async throws {
        let folder = try TemporaryFolder()
        let source = traffic.packets(50, seed: 3)
        for (name, count) in [("long", 50), ("short", 30)] {
            let ledger = try await Ledger.create(at: folder.path + "/" + name)
            let id = try await ledger.log.source(named: "test")
            _ = try await ledger.log.append(source.prefix(count).map { $0.event(id) })
            try await ledger.catchUp()
            try await ledger.close()
        }
        let short = folder.path + "/short"
        try FileManager.default.removeItem(atPath: short + "/views")
        try FileManager.default.copyItem(atPath: folder.path + "/long/views", toPath: short + "/views")
        let ledger = try await Ledger.open(at: short)
        try await ledger.catchUp()
        #expect(try await ledger.maintenance.views().allSatisfy { $0.checkpoint == 30 })
        #expect(try ledger.maintenance.viewsBeyondLog().isEmpty)
        try await ledger.close()
    }

    @Test func `M25: while a changed recipe is built, the old view answers`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(400, seed: 9).map { $0.event(source) })
        try await ledger.catchUp()
        let before = try digests(ledger)
        try await ledger.close()
        let changed = LedgerOptions(caps: ViewCaps(messages: 5))
        let reader = try await Ledger.open(at: path, options: LedgerOptions(access: .readOnly, caps: changed.caps))
        #expect(try await reader.maintenance.views().first { $0.name == "messages" }?.isStale == true)
        #expect(try reader.messages().count > 5)
        try await reader.close()
        ledger = try await Ledger.open(at: path, options: changed)
        #expect(try ledger.messages(RowQuery(limit: 1)).count == 1)
        try await ledger.catchUp()
        #expect(try digests(ledger) != before)
        #expect(try Array(digests(ledger).prefix(3)) == Array(before.prefix(3)))
        let folders = try FileManager.default.contentsOfDirectory(atPath: path + "/views/messages").filter { $0.hasPrefix("v") }
        #expect(folders.count == 1)
        try await ledger.close()
    }

    @Test func `M25: readers in between always get a whole old or a whole new view`() async throws {
        let ledger = try await ledger(of: traffic.packets(300, seed: 4))
        let expected = try ledger.nodes().count
        let rebuilding = Task { for _ in 0..<10 { try await ledger.maintenance.rebuild() } }
        var reads = 0
        while reads < 400 {
            #expect(try ledger.nodes().count == expected)
            reads += 1
            await Task.yield()
        }
        try await rebuilding.value
        #expect(try ledger.nodes().count == expected)
        try await ledger.close()
    }

    @Test func `M25: a ledger that is closed in the middle of a build can be opened again at once`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(30_000, seed: 5).map { $0.event(source) })
        try await ledger.keys.set(Keyring())
        try await ledger.keys.set(.standard)
        try await ledger.close()
        for _ in 0..<5 {
            try FileManager.default.removeItem(atPath: path + "/views")
            let again = try await Ledger.open(at: path)
            try await again.keys.set(again.keys.keyring.channels.isEmpty ? .standard : Keyring())
            try await again.close()
        }
        let last = try await Ledger.open(at: path)
        try await last.catchUp()
        #expect(try await last.maintenance.views().allSatisfy { $0.checkpoint == 30_000 })
        try await last.close()
    }

    @Test func `M15: many producers at once lose nothing, and the views are those of one fold`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let producers = (0..<8).map { number in
            traffic.packets(60, seed: 40 + number).map { packet in
                var packet = packet
                packet.id += UInt32(number) * 1_000
                return packet.event(source)
            }
        }
        let sequences = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for events in producers {
                group.addTask {
                    var sequences: [UInt64] = []
                    for event in events { sequences.append(try await ledger.log.append(event).rawValue) }
                    return sequences
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        // Each gets the number of its own event.
        #expect(sequences.sorted() == Array(1...480))
        try await ledger.catchUp()
        #expect(ledger.log.head.rawValue == 480)
        let heard = try ledger.nodes().reduce(0) { $0 + Int($1.receptions) }
        #expect(heard == 480)
        let live = try digests(ledger)
        try await ledger.maintenance.rebuild()
        #expect(try digests(ledger) == live)
        try await ledger.close()
    }

    @Test func `W1 W5: opened as one, a ledger makes views that were removed again as they were`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var options = LedgerOptions()
        options.views = [PortUses.self]
        var ledger = try await Ledger.create(at: path, options: options)
        #expect(ledger.viewNames == Self.views + ["port-use"] && ledger.path == path && ledger.log.path == path)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(300, seed: 21).map { $0.event(source) })
        try await ledger.catchUp()
        let names = ledger.viewNames
        let before = try names.map { try ledger.maintenance.digest(of: $0) }
        for removed in [["positions"], ["nodes", "port-use"], names] {
            try await ledger.close()
            for name in removed { try FileManager.default.removeItem(atPath: "\(path)/views/\(name)") }
            ledger = try await Ledger.open(at: path, options: options)
            try await ledger.catchUp()
            #expect(try names.map { try ledger.maintenance.digest(of: $0) } == before, "without \(removed)")
        }
        try await ledger.close()
    }

    @Test func `W5: several ledgers are read as one, in one order and with one limit`() async throws {
        var ledgers: [Ledger] = []
        for seed in [31, 32, 33] as [UInt64] { ledgers.append(try await ledger(of: traffic.packets(200, seed: seed))) }
        let union = Ledger.union(ledgers)
        let all = try ledgers.flatMap { ledger in try ledger.positions(of: nil).map { (ledger.path, $0) } }
        var newest = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.time > 1_780_001_000 })
        newest.sortBy = [SortDescriptor(\.time, order: .reverse), SortDescriptor(\.node), SortDescriptor(\.sequence)]
        func wanted(_ rows: [(String, PositionRow)]) -> [String] {
            let places = Dictionary(uniqueKeysWithValues: ledgers.enumerated().map { ($1.path, $0) })
            func key(_ entry: (String, PositionRow)) -> [Int64] {
                [-Int64(entry.1.time), Int64(entry.1.node), Int64(entry.1.sequence), Int64(places[entry.0] ?? 0)]
            }
            return rows.filter { $0.1.time > 1_780_001_000 }.sorted { key($0).lexicographicallyPrecedes(key($1)) }
                .map { "\($0.0) \($0.1.node) \($0.1.sequence)" }
        }
        func lines(_ found: [LedgerUnion.Found<PositionRow>]) -> [String] {
            found.map { "\($0.ledger.path) \($0.row.node) \($0.row.sequence)" }
        }
        #expect(try lines(union.fetch(newest)) == wanted(all) && wanted(all).count > 30)
        #expect(try union.fetchCount(newest) == wanted(all).count)
        (newest.fetchLimit, newest.fetchOffset) = (7, 5)
        #expect(try lines(union.fetch(newest)) == Array(wanted(all)[5..<12]))
        #expect(try union.fetchCount(newest) == 7)
        let plain = try union.fetch(FetchDescriptor<NodeRow>())
        #expect(try plain.map(\.row.number) == ledgers.flatMap { try $0.fetch(FetchDescriptor<NodeRow>()).map(\.number) })
        #expect(try Ledger.union([]).fetch(newest).isEmpty)
        for ledger in ledgers { try await ledger.close() }
    }
}
