import EventLog
import MeshLedger
import MeshSimulator
import TestKit
import Testing

/// When events were heard, over several blocks of the index: recordings of consecutive times, imported out of order beside live traffic.
struct HeardTimes {
    private static let start: Int64 = 1_780_000_000

    /// The times at which the events of a new ledger were heard, in the order of their sequences, in seconds.
    private func ledger(_ random: inout SeededGenerator) async throws -> (Ledger, [Int64]) {
        let ledger = try await Ledger.temporary(
            options: LedgerOptions(log: EventLogOptions(clock: { Timestamp(seconds: Self.start) })))
        let source = try await ledger.log.source(named: "mesh")
        let envelope = MeshPacketBuilder(from: 1_001, id: 7).event(source)
        let recordings = [(9_000, -500_000), (11_000, -900_000), (9_000, 0), (12_000, -900_000 + 11_000)].shuffled(using: &random)
        var heard: [Int64] = []
        for (count, begin) in recordings {
            let times = (0..<count).map { begin == 0 ? Self.start : Self.start + Int64(begin + $0) }
            let events = times.map { time in
                NewEvent(
                    envelope.payload, encoding: envelope.encoding, source: source,
                    reception: begin == 0 ? .live : .recorded(Timestamp(seconds: time)))
            }
            for run in stride(from: 0, to: count, by: 4_000) {
                _ = try await ledger.log.append(Array(events[run..<min(run + 4_000, count)]))
            }
            heard += times
        }
        return (ledger, heard)
    }

    @Test(arguments: UInt64(1)...3)
    func `events are found by when they were heard`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let (ledger, heard) = try await ledger(&random)
        for isFolded in [false, true] {
            if isFolded { try await ledger.catchUp() }
            for _ in 0..<5 {
                let start = isFolded && Bool.random(using: &random) ? nil : heard.randomElement(using: &random)
                let end = Bool.random(using: &random) ? nil : heard.randomElement(using: &random)
                let runs = try ledger.runs(
                    heardFrom: start.map { Timestamp(seconds: $0) }, before: end.map { Timestamp(seconds: $0) })
                let expected = heard.indices.filter { heard[$0] >= start ?? .min && heard[$0] < end ?? .max }.map {
                    UInt64($0) + 1
                }
                #expect(runs.flatMap { $0.lowerBound.rawValue...$0.upperBound.rawValue } == expected, "seed \(seed)")
                for (before, after) in zip(runs, runs.dropFirst()) {
                    #expect(before.upperBound.rawValue + 1 < after.lowerBound.rawValue)
                }
            }
        }
        try await ledger.close()
    }

    @Test func `as of a time of the mesh, the index has the events that had been heard, and no later ones`() async throws {
        var random = SeededGenerator(seed: 5)
        let (ledger, heard) = try await ledger(&random)
        try await ledger.catchUp()
        for time in [Self.start - 900_001, heard[20_000], Self.start - 1, Self.start] {
            let then = try ledger.asOf(.time(Timestamp(seconds: time)))
            let expected = heard.indices.filter { heard[$0] <= time }.map { UInt64($0) + 1 }
            #expect(try then.sequences(of: EventSelection(node: 1_001)).map(\.rawValue) == expected)
            #expect(then.asOfSequence?.rawValue == expected.last ?? 0)
            #expect(then.countsOnlyHeard == (expected.count != expected.last ?? 0))
            try await then.close()
        }
        try await ledger.close()
    }
}
