import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import TestKit
import Testing

/// Following the changes of views.
@Suite(.timeLimit(.minutes(20))) struct ChangesOfViews {
    private static let views = Ledger.viewNames

    private func tables(_ view: String) -> [String] {
        switch view {
        case "nodes": ["nodes", "channels"]
        case "messages": ["messages", "channels"]
        case "telemetry": ["telemetry", "unknown_telemetry"]
        case "gateways": ["gateways", "gateway_nodes"]
        case "nodehistory": ["nodehistory", "hardware"]
        default: [view]
        }
    }

    private func rows(_ ledger: Ledger, _ view: String) throws -> [[UInt8]: [UInt8]] {
        var rows: [[UInt8]: [UInt8]] = [:]
        for table in tables(view) {
            var last: [UInt8]?
            while true {
                let page = try ledger.changes.rows(of: view, table: table, after: last, limit: 300)
                guard let end = page.last else { break }
                for row in page { rows[Array(table.utf8) + row.key] = row.value }
                last = end.key
            }
        }
        return rows
    }

    private func apply(_ news: ViewChanges, to rows: inout [[UInt8]: [UInt8]]) {
        for change in news.changes { rows[Array(change.table.utf8) + change.key] = change.value }
    }

    /// Traffic of more nodes than a capped view keeps; every seed comes after the ones before.
    private func packets(_ count: Int, seed: UInt64) -> [MeshPacketBuilder] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            var packet = MeshPacketBuilder(
                from: UInt32.random(in: 5_000..<5_020, using: &random), id: UInt32(seed) * 100_000 + UInt32(index) + 1,
                rxTime: 1_780_000_000 + UInt32(seed) * 50_000 + UInt32(index) * 5)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                packet.port = Port.position
                packet.payload = MeshPacketBuilder.position(Int32.random(in: 1...9_000, using: &random), 7)
            case 1:
                packet.port = Port.nodeInfo
                packet.payload = MeshPacketBuilder.user("node \(packet.from)")
            default: packet.payload = Array("text \(index)".utf8)
            }
            return packet
        }
    }

    private func append(_ count: Int, seed: UInt64, to ledger: Ledger) async throws {
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(packets(count, seed: seed).map { $0.event(source) })
        try await ledger.catchUp()
    }

    @Test func `K27: rows and then changes since give the view at any time, with caps, a rebuild and after a restart`()
        async throws
    {
        let folder = try TemporaryFolder()
        var options = LedgerOptions()
        options.caps.positions = 20
        options.caps.nodes = 12
        var ledger = try await Ledger.create(at: folder.path + "/ledger", options: options)
        try await append(500, seed: 1, to: ledger)
        var known: [String: [[UInt8]: [UInt8]]] = [:]
        var places: [String: ChangePosition] = [:]
        for view in Self.views {
            places[view] = try ledger.changes.position(of: view)
            known[view] = try rows(ledger, view)
        }
        var deletions = 0
        for round in 2...7 as ClosedRange<UInt64> {
            try await append(400, seed: round, to: ledger)
            if round == 4 { try await ledger.maintenance.rebuild() }
            if round == 5 { try await ledger.maintenance.rebuild(["positions"]) }
            if round == 6 {
                try await ledger.close()
                ledger = try await Ledger.open(at: folder.path + "/ledger", options: options)
            }
            for view in Self.views {
                var last: UInt64 = 0
                while true {
                    let news = try ledger.changes.fetch(of: view, since: try #require(places[view]), limit: 100)
                    guard !news.changes.isEmpty else { break }
                    for change in news.changes {
                        #expect(change.number > last)
                        last = change.number
                        if change.value == nil { deletions += 1 }
                    }
                    apply(news, to: &known[view, default: [:]])
                    places[view] = news.position
                }
                #expect(try known[view] == rows(ledger, view), "\(view) in round \(round)")
            }
        }
        #expect(deletions > 0)
        try await ledger.close()
    }

    @Test func `what a rebuild makes otherwise are changes, and nothing else is`() async throws {
        let folder = try TemporaryFolder()
        var options = LedgerOptions()
        options.caps.positions = 20
        var ledger = try await Ledger.create(at: folder.path + "/ledger", options: options)
        try await append(2_000, seed: 1, to: ledger)
        let place = try ledger.changes.position(of: "positions")
        try await ledger.maintenance.rebuild(["positions"])
        #expect(try ledger.changes.fetch(of: "positions", since: place).changes == [])
        var known = try rows(ledger, "positions")
        try await ledger.close()
        options.caps.positions = 10
        ledger = try await Ledger.open(at: folder.path + "/ledger", options: options)
        try await ledger.catchUp()
        let news = try ledger.changes.fetch(of: "positions", since: place, limit: 100_000)
        #expect(!news.changes.isEmpty && news.changes.allSatisfy { $0.value == nil })
        apply(news, to: &known)
        #expect(try known == rows(ledger, "positions"))
        try await ledger.close()
    }

    @Test func `what a commit leaves as it was is no change, in any view`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        var id: UInt32 = 0
        func events(_ nodes: ClosedRange<UInt32>) -> [NewEvent] {
            let contents = [
                (Port.nodeInfo, MeshPacketBuilder.user("a node", hardware: 43)), (Port.text, Array("good morning".utf8)),
                (Port.position, MeshPacketBuilder.position(5, 7)),
            ]
            return nodes.flatMap { node in
                contents.map { port, payload in
                    id += 1
                    return MeshPacketBuilder(from: node, id: id, rxTime: 1_780_000_000 + id, port: port, payload: payload)
                        .event(source)
                }
            }
        }
        _ = try await ledger.log.append(events(5_001...5_040))
        try await ledger.catchUp()
        // What was committed before must not be written with what comes now.
        for nodes in [5_041...5_041, 5_042...5_042] as [ClosedRange<UInt32>] {
            let before = try Dictionary(uniqueKeysWithValues: Self.views.map { ($0, try rows(ledger, $0)) })
            let places = try Dictionary(uniqueKeysWithValues: Self.views.map { ($0, try ledger.changes.position(of: $0)) })
            _ = try await ledger.log.append(events(nodes))
            try await ledger.catchUp()
            for view in Self.views {
                let changes = try ledger.changes.fetch(of: view, since: try #require(places[view]), limit: 10_000).changes
                for change in changes {
                    let known = before[view]?[Array(change.table.utf8) + change.key]
                    #expect(known != change.value, "\(view), \(change.table), \(change.key)")
                }
            }
            #expect(try !ledger.changes.fetch(of: "nodehistory", since: try #require(places["nodehistory"])).changes.isEmpty)
        }
        try await ledger.close()
    }

    @Test func `changes that are no longer kept, and those of a view before an erasure, are reported as lost`() async throws {
        var options = LedgerOptions()
        options.changesKept = 200
        let ledger = try await Ledger.temporary(options: options)
        try await append(100, seed: 1, to: ledger)
        let start = try ledger.changes.position(of: "positions")
        try await append(2_000, seed: 2, to: ledger)
        for old in [
            start, ChangePosition(feed: start.feed + 1, number: start.number), ChangePosition(feed: start.feed, number: 1 << 60),
        ] {
            let error = #expect(throws: LedgerError.self) { try ledger.changes.fetch(of: "positions", since: old) }
            #expect(error?.code == .changesLost)
        }
        let now = try ledger.changes.position(of: "positions")
        #expect(try ledger.changes.fetch(of: "positions", since: now).changes == [])
        let recent = ChangePosition(feed: now.feed, number: now.number - 200)
        #expect(try !ledger.changes.fetch(of: "positions", since: recent).changes.isEmpty)
        try await ledger.erasure.erase(.sequences([EventSequence(5)...EventSequence(5)]), reason: "test")
        try await ledger.catchUp()
        let error = #expect(throws: LedgerError.self) { try ledger.changes.fetch(of: "positions", since: now) }
        #expect(error?.code == .changesLost)
        try await ledger.close()
    }

    @Test func `K27: a consumer gets all rows and then every change, at least once, from what it acknowledged`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try await Ledger.create(at: folder.path + "/ledger")
        try await append(1_000, seed: 1, to: ledger)
        var seen: [[UInt8]: [UInt8]] = [:]
        var consumer = try ledger.changes.consumer(named: "map", of: "positions")
        // Rows that are not acknowledged to the last come again.
        let first = try consumer.available(limit: 10)
        #expect(first.changes.count == 10 && first.isPartOfRows)
        try consumer.acknowledge(first)
        let held = #expect(throws: LedgerError.self) { try ledger.changes.consumer(named: "map", of: "positions") }
        #expect(held?.code == .locked)
        consumer.close()
        consumer = try ledger.changes.consumer(named: "map", of: "positions")
        #expect(consumer.position == nil)
        #expect(try consumer.available(limit: 10) == first)
        apply(first, to: &seen)
        while consumer.position == nil {
            let news = try consumer.available(limit: 100)
            apply(news, to: &seen)
            try consumer.acknowledge(news)
        }
        #expect(try seen == rows(ledger, "positions"))
        try await append(500, seed: 2, to: ledger)
        #expect(try #require(try ledger.changes.consumers().first { $0.name == "map" }?.lag) > 0)
        let unacknowledged = try consumer.available(limit: 50)
        consumer.close()
        consumer = try ledger.changes.consumer(named: "map", of: "positions")
        #expect(try consumer.available(limit: 50) == unacknowledged)
        apply(unacknowledged, to: &seen)
        while true {
            let news = try consumer.available(limit: 50)
            guard !news.changes.isEmpty else { break }
            apply(news, to: &seen)
            try consumer.acknowledge(news)
        }
        #expect(try seen == rows(ledger, "positions"))
        #expect(try ledger.changes.consumers().map(\.lag) == [0])
        consumer.close()
        let other = try ledger.changes.consumer(named: "new", of: "nodes", fromNow: true)
        #expect(try other.available().changes == [])
        let wrong = #expect(throws: LedgerError.self) { try ledger.changes.consumer(named: "map", of: "nodes") }
        #expect(wrong?.code == .missing)
        #expect(throws: LedgerError.self) { try ledger.consumer(named: "map") }
        #expect(try ledger.changes.removeConsumer(named: "map") && !ledger.changes.removeConsumer(named: "map"))
        other.close()
        try await ledger.close()
    }
}
