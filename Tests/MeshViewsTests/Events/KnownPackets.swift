import EventLog
import MeshLedger
import MeshSimulator
import Testing

/// What the log needs for a packet that it has already.
struct KnownPackets {
    /// Bytes of sealed blocks an event.
    private func sealedBytes(_ envelopes: [[UInt8]]) async throws -> Double {
        let log = try EventLog.temporary(
            options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false), summariser: .meshtastic))
        let source = try await log.source(named: "simulated")
        for start in stride(from: 0, to: envelopes.count, by: 500) {
            let events = envelopes[start..<min(start + 500, envelopes.count)]
            try await log.append(events.map { NewEvent($0, encoding: .serviceEnvelope, source: source) })
        }
        try await log.seal()
        let found = try log.sealingStatistics()
        await log.close()
        #expect(found.sealedEvents > 5_000)
        return Double(found.sealedBytes) / Double(found.sealedEvents)
    }

    /// Of random content, most of it encrypted, so that only what repeats can be saved.
    @Test func `D7: sealed, another reception of a known packet takes at most 35 percent of the first`() async throws {
        var mesh = MeshSimulation(SimulationOptions(seed: .random(in: 0...999), nodes: 60, badPerMille: 0))
        var (all, first): ([[UInt8]], [[UInt8]]) = ([], [])
        var seen: Set<UInt64> = []
        while first.count < 6_000 {
            let reception = mesh.next()
            all.append(reception.envelope)
            if seen.insert(reception.fact.transmission).inserted { first.append(reception.envelope) }
        }
        #expect(all.count > first.count * 3 / 2)
        let (whole, once) = (try await sealedBytes(all), try await sealedBytes(first))
        let again = (whole * Double(all.count) - once * Double(first.count)) / Double(all.count - first.count)
        #expect(again <= 0.35 * once, "\(again) bytes an event instead of \(once), seed \(mesh.options.seed)")
    }
}
