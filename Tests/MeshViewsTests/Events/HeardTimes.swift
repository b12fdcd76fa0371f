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

    @Test(arguments: UInt64(1)...3)
    func `events and packets are visited in the order in which they were heard`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let (ledger, heard) = try await ledger(&random)
        for isFolded in [false, true] {
            if isFolded { try await ledger.catchUp() }
            for newestFirst in [true, false] {
                let (since, until) = (heard.randomElement(using: &random), isFolded ? nil : heard.randomElement(using: &random))
                let order = EventOrder(
                    since: since.map { Timestamp(seconds: $0) }, until: until.map { Timestamp(seconds: $0) },
                    newestFirst: newestFirst,
                    isFolded && Bool.random(using: &random) ? EventSelection(node: 1_001) : nil)
                let expected = heard.indices.filter { heard[$0] >= since ?? .min && heard[$0] < until ?? .max }
                    .sorted { (heard[$0], $0) < (heard[$1], $1) }.map { UInt64($0) + 1 }
                var found: [UInt64] = []
                try ledger.forEachSequence(order) { part in
                    found += part.map(\.rawValue)
                    return true
                }
                #expect(found == (newestFirst ? expected.reversed() : expected), "seed \(seed)")
            }
        }
        var all: [PacketRow] = []
        try ledger.forEachPacket { row in
            all.append(row)
            return true
        }
        func visited(_ order: EventOrder) throws -> [PacketRow] {
            var rows: [PacketRow] = []
            try ledger.forEachPacket(order) { row in
                rows.append(row)
                return true
            }
            return rows
        }
        func time(_ row: PacketRow) -> Int64 { row.heard?.seconds ?? 0 }
        let expected = all.sorted { (time($0), $0.firstSequence) > (time($1), $1.firstSequence) }
        #expect(all.count > 5 && expected.map(\.firstSequence) != all.map(\.firstSequence))
        #expect(try visited(EventOrder()) == expected, "seed \(seed)")
        #expect(try visited(EventOrder(newestFirst: false)) == expected.reversed(), "seed \(seed)")
        #expect(
            try visited(EventOrder(by: .arrival)) == all
                && visited(EventOrder(by: .arrival, newestFirst: false)) == all.reversed())
        let middle = expected[expected.count / 2]
        let (since, until) = (Timestamp(seconds: time(middle)), Timestamp(seconds: time(middle) + 40_000))
        let within = expected.filter { time($0) >= since.seconds && time($0) < until.seconds }
        #expect(try visited(EventOrder(since: since, until: until)) == within && !within.isEmpty, "seed \(seed)")
        #expect(try ledger.packetCounts().values.reduce(0, +) == UInt64(all.count))
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
