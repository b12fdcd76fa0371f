import EventLog
import Foundation
import MeshLedger
import MeshSimulator
import Meshtastic
import TestKit
import Testing

/// Fetch descriptors over the views of a simulated mesh give what the plain reads give.
struct Queries {
    @Test func `nodes, positions, telemetry and messages are fetched by what is asked of them`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try await Ledger.create(
            at: folder.path + "/mesh.ledger", options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        let source = try await ledger.log.source(named: "simulated")
        var simulation = MeshSimulation(SimulationOptions(seed: 5, nodes: 40))
        var batch = EventBatch()
        for _ in 0..<4_000 {
            let reception = simulation.next()
            batch.append(NewEvent(reception.envelope, encoding: .serviceEnvelope, source: source))
        }
        try await ledger.log.append(batch)
        try await ledger.catchUp()
        try positions(ledger)
        try telemetry(ledger)
        try messages(ledger)
        try nodes(ledger)
        try await ledger.close()
    }

    private func positions(_ ledger: Ledger) throws {
        let all = try ledger.positions(of: nil, RowQuery(newestFirst: false))
        #expect(all.count > 100)
        #expect(try ledger.fetch(FetchDescriptor<PositionRow>()) == all)
        let (node, since) = (all[all.count / 2].node, all[all.count / 2].time)
        var track = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == node && $0.time >= since })
        track.sortBy = [SortDescriptor(\.time, order: .reverse)]
        track.fetchLimit = 5
        let wanted = try ledger.positions(of: node, RowQuery(since: Timestamp(microseconds: Int64(since) * 1_000_000), limit: 5))
        #expect(try ledger.fetch(track) == wanted)
        #expect(try ledger.fetchCount(track) == wanted.count)
        #expect(try ledger.explain(track).access == .ranges)
        let high = FetchDescriptor<PositionRow>(predicate: #Predicate { ($0.altitude ?? 0) > 100 && $0.latitude > 0 })
        #expect(try ledger.fetch(high) == all.filter { ($0.altitude ?? 0) > 100 && $0.latitude > 0 })
    }

    private func telemetry(_ ledger: Ledger) throws {
        let all = try ledger.telemetry(of: nil, RowQuery(newestFirst: false))
        #expect(!all.isEmpty)
        #expect(try ledger.fetch(FetchDescriptor<TelemetryRow>()) == all)
        let (kind, node) = (all[0].kind, all[0].node)
        let some = FetchDescriptor<TelemetryRow>(predicate: #Predicate { $0.kind == kind && $0.node != node })
        #expect(try ledger.fetch(some) == all.filter { $0.kind == kind && $0.node != node })
        #expect(try !ledger.explain(some).isFiltered)
    }

    private func messages(_ ledger: Ledger) throws {
        let all = try ledger.messages(RowQuery(newestFirst: false))
        #expect(all.count > 10)
        let thread = all[0].thread
        let one = FetchDescriptor<MessageRow>(predicate: #Predicate { $0.thread == thread })
        #expect(try ledger.fetch(one) == all.filter { $0.thread == thread })
        #expect(try ledger.explain(one).access == .ranges)
        var newest = FetchDescriptor<MessageRow>(sortBy: [
            SortDescriptor(\.time, order: .reverse), SortDescriptor(\.sequence, order: .reverse),
        ])
        newest.fetchLimit = 7
        #expect(try ledger.fetch(newest) == Array(all.reversed().prefix(7)))
        let word = String(all[0].text.prefix(3))
        let found = FetchDescriptor<MessageRow>(predicate: #Predicate { $0.text.contains(word) })
        #expect(try ledger.fetchCount(found) == all.count { $0.text.contains(word) })
    }

    private func nodes(_ ledger: Ledger) throws {
        let all = try ledger.nodes(RowQuery(newestFirst: false))
        let numbers = all.prefix(3).map(\.number)
        #expect(
            try ledger.fetch(FetchDescriptor<NodeRow>(predicate: #Predicate { numbers.contains($0.number) }))
                == Array(all.prefix(3)))
        var named = FetchDescriptor<NodeRow>(predicate: #Predicate { $0.longName.isEmpty }, sortBy: [SortDescriptor(\.lastHeard)])
        named.requiresIndex = true
        let refused = #expect(throws: LedgerError.self) { try ledger.fetch(named) }
        #expect(refused?.code == .query)
    }
}
