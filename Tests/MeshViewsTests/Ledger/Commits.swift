import EventLog
import Foundation
import LMDB
import Meshtastic
public import Projections
public import TestKit
import Testing

@testable import MeshLedger

extension VirtualClock: LedgerClock {}

/// When a ledger writes, counted on its files and on a clock that a test moves.
struct Commits {
    private typealias Packet = MeshPacketBuilder

    private func position(_ id: UInt32, from: UInt32 = 1_001) -> Packet {
        Packet(
            from: from, id: id, rxTime: 1_780_000_000 + id / 100, port: Port.position,
            payload: Packet.position(Int32(id) + 1_000, 7))
    }

    /// The content of every file but those that only say who reads.
    private func files(_ path: String) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path)
        where name.hasSuffix(".mdb") && !name.hasSuffix("lock.mdb") {
            found[name] = FileManager.default.contents(atPath: path + "/" + name)
        }
        return found
    }

    @Test func `M2: for a minute after a flush nothing is written to any file of an idle ledger, whatever timers ring`()
        async throws
    {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        var options = LedgerOptions(flushClock: clock)
        // What looks after size and retention every minute or hour does so all the time.
        options.log.lookInterval = .milliseconds(5)
        options.retentionPeriod = .milliseconds(5)
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger", options: options)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append((1...300).map { position($0).event(source) })
        try await ledger.catchUp()
        let before = try files(ledger.path)
        #expect(before.count > Ledger.viewNames.count)
        for second in 1...60 {
            clock.advance(to: .seconds(second))
            try await Task.sleep(for: .milliseconds(15))  // the timers that are not of this clock ring, and leave no trace
        }
        #expect(try files(ledger.path) == before)
        // A packet is a reason.
        _ = try await ledger.log.append(position(301).event(source))
        try await ledger.flush()
        #expect(try files(ledger.path) != before)
        try await ledger.close()
    }

    @Test(arguments: [1, 20_000])
    func `M6: a burst of any size can be read soon, even if no packet follows it`(count: UInt32) async throws {
        let folder = try TemporaryFolder()
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger")
        let source = try await ledger.log.source(named: "test")
        func text(_ id: UInt32) -> Packet {
            Packet(from: 1_001, id: id, rxTime: 1_780_000_000 + id / 100, port: Port.text, payload: Array("number \(id)".utf8))
        }
        _ = try await ledger.log.append(text(1).event(source))
        try await eventually { try !ledger.messages().isEmpty }
        _ = try await ledger.log.append((2...count + 1).map { text($0).event(source) })
        let views = ["messages", "nodes", "packets"]
        func checkpoints() async throws -> Set<UInt64> {
            Set(try await ledger.maintenance.views().filter { views.contains($0.name) }.map(\.checkpoint))
        }
        let head = ledger.log.head.rawValue
        try await eventually { try await checkpoints() == [head] }
        try await ledger.close()
    }

    @Test func `M6 D18: a hundred position packets a second for ten seconds are at most three commits of their view`()
        async throws
    {
        let folder = try TemporaryFolder()
        let clock = VirtualClock()
        var options = LedgerOptions(flushClock: clock)
        options.log.isDurable = false
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger", options: options)
        let source = try await ledger.log.source(named: "test")
        func folded() async -> UInt64 { await ledger.maintenance.projectorStatistics()["positions"]?.folded ?? 0 }
        func commits() async -> Int {
            await ledger.maintenance.projectorStatistics()["positions"]?.commits.values.reduce(0, +) ?? 0
        }
        let before = await commits()
        for step in 0..<100 {
            clock.advance(to: .milliseconds(step * 100))
            _ = try await ledger.log.append((0..<10).map { position(UInt32(step * 10 + $0 + 1)).event(source) })
            try await eventually(every: .milliseconds(1)) { await folded() >= UInt64(step + 1) * 10 }
        }
        for step in 100...160 {
            clock.advance(to: .milliseconds(step * 100))
            for _ in 0..<5 { await Task.yield() }
        }
        try await eventually { try ledger.positions(of: 1_001).count >= 1_000 }
        let made = await commits() - before
        #expect(try ledger.positions(of: 1_001).count == 1_000)
        #expect((1...3).contains(made))
        try await ledger.close()
    }

    @Test func `D9: why a view cannot be stored is part of the condition, until it is stored`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger")
        let source = try await ledger.log.source(named: "test")
        let positions = try #require(ledger.served.environments().first { $0.0 == "positions" }?.1)
        try positions.setSizeLimit(100_000)
        for start in stride(from: UInt32(1), to: 20_000, by: 1_000) {
            _ = try await ledger.log.append((start..<start + 1_000).map { position($0).event(source) })
        }
        await #expect(throws: LedgerError.self) { try await ledger.flush() }
        let failing = try #require(await ledger.maintenance.condition())
        #expect(failing.isDegraded && failing.foldFailure?.contains("positions") == true, "\(failing)")
        try positions.setSizeLimit(100_000_000)
        try await ledger.flush()
        #expect(await ledger.maintenance.condition()?.foldFailure == nil)
        #expect(try ledger.positions(of: 1_001).count > 1_000)
        try await ledger.close()
    }

    @Test
    func
        `W6: what a transaction that throws has added leaves no trace, and a view that begins again is as before`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(RandomPackets().packets(300, seed: 5).map { $0.event(source) })
        try await ledger.catchUp()
        let digests = try Ledger.viewNames.map { try ledger.maintenance.digest(of: $0) }
        for view in Ledger.viewNames {
            try await ledger.maintenance.rebuild([view])
            #expect(try Ledger.viewNames.map { try ledger.maintenance.digest(of: $0) } == digests, "\(view)")
        }
        // Events whose annotations are refused, or whose transaction throws, are in neither the log nor a view.
        let head = ledger.log.head
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await ledger.transaction { transaction in
                for id in UInt32(1)...50 { transaction.append(position(id, from: 9_999).event(source)) }
                throw Stop()
            }
        }
        #expect(try ledger.log.head == head && ledger.node(9_999) == nil)
        #expect(try Ledger.viewNames.map { try ledger.maintenance.digest(of: $0) } == digests)
        try await ledger.close()
    }
}
