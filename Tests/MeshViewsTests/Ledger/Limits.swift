import EventLog
import Foundation
import MeshLedger
import Meshtastic
import TestKit
import Testing

/// Numbers at their limits, and what is left open after a failure.
struct Limits {
    private static func fill(_ ledger: Ledger, from node: UInt32, _ count: UInt32 = 1) async throws {
        let source = try await ledger.log.source(named: "test")
        let packets = (1...count).map {
            MeshPacketBuilder(from: node, id: node &+ $0, rxTime: 1_780_000_000 + $0, payload: Array("message \($0)".utf8))
        }
        _ = try await ledger.log.append(packets.map { $0.event(source) })
        try await ledger.catchUp()
    }

    @Test(arguments: [Int.max, 1, 0, -1, .min]) func `a cap is any number from 1 on`(_ cap: Int) async throws {
        var options = LedgerOptions()
        options.caps = ViewCaps(
            nodes: cap, positions: cap, telemetry: cap, messages: cap, waypoints: cap, traceRoutes: cap, links: cap,
            gateways: cap,
            gatewayNodes: cap, mapReports: cap, sensors: cap, nodeHistory: cap, radios: cap)
        guard cap > 0 else {
            let error = await #expect(throws: LedgerError.self) { _ = try await Ledger.temporary(options: options) }
            #expect(error?.code == .query)
            return
        }
        let ledger = try await Ledger.temporary(options: options)
        for node in UInt32(7)...9 { try await Self.fill(ledger, from: node, 3) }
        #expect(try ledger.nodes().count == (cap > 1 ? 3 : 1))
        try await ledger.close()
    }

    @Test func `without favorites again, the cap of nodes is as before`() async throws {
        var options = LedgerOptions()
        options.caps = ViewCaps(nodes: 2)
        let ledger = try await Ledger.temporary(options: options)
        for node in UInt32(11)...13 {
            try await Self.fill(ledger, from: node)
            try await ledger.annotations.record(.favorite(node))
        }
        try await ledger.annotations.record(.favorite(11, false))
        try await ledger.catchUp()
        #expect(try ledger.nodes().count == 3)
        try await Self.fill(ledger, from: 14)
        #expect(try Set(ledger.nodes().map(\.number)).isSuperset(of: [12, 13]) && ledger.nodes().count == 3)
        try await ledger.close()
    }

    @Test func `the only stored message is known when it is heard again after reopening`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var ledger = try await Ledger.create(at: path)
        try await Self.fill(ledger, from: 7)
        try await ledger.close()
        ledger = try await Ledger.open(at: path)
        var packet = MeshPacketBuilder(from: 7, id: 8, rxTime: 1_780_000_005, payload: Array("message 1".utf8))
        packet.gateway = "!00000009"
        _ = try await ledger.log.append([packet.event(ledger.log.source(named: "test"))])
        try await ledger.catchUp()
        #expect(try ledger.messages().map(\.receptions) == [2])
        try await ledger.close()
    }

    @Test func `the first event is among those that an erasure would take`() async throws {
        let ledger = try await Ledger.temporary()
        try await Self.fill(ledger, from: 7)
        #expect(try ledger.erasure.erasable(.node(7)) == [EventSequence(1)...EventSequence(1)])
        try await ledger.close()
    }

    @Test func `a ledger that could not be opened for its keys can be opened in the same process once they are mended`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await Ledger.create(at: path).close()
        let keys = URL(fileURLWithPath: path + "/keys.json")
        let good = try? Data(contentsOf: keys)
        try Data("junk".utf8).write(to: keys)
        let error = await #expect(throws: LedgerError.self) { _ = try await Ledger.open(at: path) }
        #expect(error?.code == .keys)
        if let good { try good.write(to: keys) } else { try FileManager.default.removeItem(at: keys) }
        try await Ledger.open(at: path).close()
    }

    @Test func `a decision that retention has dropped is said to be dropped when it is to be reverted`() async throws {
        let ledger = try await Ledger.temporary()
        try await Self.fill(ledger, from: 7)
        let first = try await ledger.annotations.record(.favorite(7)).lowerBound
        try await Self.fill(ledger, from: 7, 600)
        try await ledger.retention.retain(through: EventSequence(512))
        #expect(ledger.log.first > first)
        let error = await #expect(throws: LedgerError.self) { try await ledger.annotations.revert(first) }
        #expect(error?.code == .beyondRetention)
        try await ledger.close()
    }

    @Test func `a transaction splits a decision about very many messages as one by itself is`() async throws {
        let ledger = try await Ledger.temporary()
        let keys = (0..<300_000 as Range<UInt32>).map { MessageKey(from: 7, id: $0 + 1, time: 1_780_000_000) }
        let range = try #require(try await ledger.transaction { $0.annotate(.archive(keys)) })
        #expect(range.count == 2)
        try await ledger.close()
    }
}
