import EventLog
import Foundation
import MeshLedger
import MeshSimulator
import Meshtastic
import TestKit
import Testing

/// A ledger as of an event against a ledger that never had the later ones.
struct EarlierLedgers {
    private static let caps = ViewCaps(
        nodes: 25, positions: 12, telemetry: 6, messages: 60, waypoints: 12, traceRoutes: 40, links: 120)

    /// Simulated receptions, and where each of them ends.
    private static func receptions(_ seed: UInt64) -> [SimulatedReception] {
        var simulation = MeshSimulation(SimulationOptions(seed: seed, nodes: 40))
        return (0..<3_000).map { _ in simulation.next() }
    }

    private func options(_ caps: ViewCaps) -> LedgerOptions {
        // One clock for both ledgers: the checksums of their records are part of what is compared.
        LedgerOptions(log: EventLogOptions(clock: { Timestamp(seconds: 1_790_000_000) }), caps: caps)
    }

    private func ledger(_ receptions: some Sequence<SimulatedReception>, _ caps: ViewCaps) async throws -> Ledger {
        let ledger = try await Ledger.temporary(options: options(caps))
        let source = try await ledger.log.source(named: "mesh")
        _ = try await ledger.log.append(
            receptions.map {
                NewEvent(
                    $0.envelope, encoding: .serviceEnvelope, source: source,
                    reception: .recorded(Timestamp(seconds: Int64($0.time))))
            })
        try await ledger.catchUp()
        return ledger
    }

    private func seriesAnswers(_ ledger: Ledger) throws -> [String] {
        try ledger.positions(of: nil).map { "\($0)" } + ledger.telemetry(of: nil).map { "\($0)" }
    }

    /// Everything that can be read of it.
    private func answers(_ ledger: Ledger) throws -> [String] {
        var answers = try Ledger.viewNames.map { "\($0) \(try ledger.maintenance.digest(of: $0))" }
        answers += try ledger.nodes().map { "\($0)" }
        answers += try seriesAnswers(ledger)
        for node in try ledger.nodes().prefix(8) {
            answers += try ledger.telemetry(of: node.number, RowQuery(limit: 5, newestFirst: false)).map { "\($0)" }
            answers.append("\(try ledger.sequences(of: EventSelection(node: node.number)).map(\.rawValue))")
        }
        answers += try ledger.messages(RowQuery(limit: 40)).map { "\($0)" }
        answers += try ledger.waypoints().map { "\($0)" } + ledger.traceRoutes().map { "\($0)" } + ledger.links().map { "\($0)" }
        answers += try ledger.packets(limit: 20).map { "\($0)" }
        answers += try ledger.maintenance.quarantine().map { "\($0)" }
        return answers
    }

    @Test(arguments: [UInt64(3), 5])
    func `W10 D22: as of event n every view answers as the fold of the first n events`(seed: UInt64) async throws {
        let caps = seed == 3 ? Self.caps : ViewCaps()
        let all = Self.receptions(seed)
        let whole = try await ledger(all, caps)
        var random = SeededGenerator(seed: seed)
        let counts = [0, 1, all.count] + (0..<4).map { _ in Int.random(in: 2..<all.count, using: &random) }
        for count in counts {
            let then = try whole.asOf(.sequence(UInt64(count)))
            let short = try await ledger(all.prefix(count), caps)
            #expect(try answers(then) == answers(short), "seed \(seed), \(count) events")
            #expect(then.asOfSequence == EventSequence(UInt64(count)))
            try await short.close()
            try await then.close()
        }
        try await whole.close()
    }

    @Test(
        .enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)),
        arguments: ["made", "made, where packets with one id cross in time", "recorded"])
    func `W10 D22: as of event n, generated and recorded packets give what the first n of them give`(traffic: String)
        async throws
    {
        if traffic == "recorded", SharedFolder.isMissing(for: "as of event n, recorded packets") { return }
        struct Line: Decodable { var raw_b64: String }
        let chosen = ProcessInfo.processInfo.environment["MESHLEDGER_SEED"].flatMap { UInt64($0) }
        let seed = traffic.contains("cross") ? 7 : chosen ?? .random(in: 1...9_999)
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let file =
            traffic == "recorded"
            ? SharedFolder.file("captures/packets-2025-09.jsonl")
            : try GeneratedCapture("jsonl", seed: seed, ["packets=700", "hostile=15"], in: folder).url
        let text = try String(contentsOf: file, encoding: .utf8)
        let packets = try text.split(separator: "\n").prefix(4_000).map {
            [UInt8](try #require(Data(base64Encoded: JSONDecoder().decode(Line.self, from: Data($0.utf8)).raw_b64)))
        }
        let counts = [0] + (0..<4).map { _ in Int.random(in: packets.count / 4...packets.count, using: &random) }.sorted()
        func append(_ packets: some Sequence<[UInt8]>, to ledger: Ledger) async throws {
            let source = try await ledger.log.source(named: "mesh")
            _ = try await ledger.log.append(
                packets.map { NewEvent($0, encoding: .meshPacket, source: source, reception: .unrecorded) })
            try await ledger.catchUp()
        }
        let whole = try await Ledger.temporary(options: options(Self.caps))
        try await append(packets, to: whole)
        let short = try await Ledger.temporary(options: options(Self.caps))
        var series: [(count: Int, answers: [String])] = []
        for (count, before) in zip(counts, [0] + counts) {
            try await append(packets[before..<count], to: short)
            let then = try whole.asOf(.sequence(UInt64(count)))
            let (mine, other) = try (answers(then), answers(short))
            let differences = Set(mine).symmetricDifference(other).sorted()
            #expect(differences.isEmpty, "MESHLEDGER_SEED=\(seed), \(count) packets: \(differences)")
            #expect(mine == other, "MESHLEDGER_SEED=\(seed), \(count) packets")
            try await then.close()
            series.append((count, try seriesAnswers(short)))
        }
        // Series of which only the newest events are kept: what these replace may be older.
        let cut = counts[2] / 256 * 256
        try await whole.retention.retain(through: EventSequence(UInt64(cut)))
        for (count, expected) in series where count > cut {
            let then = try whole.asOf(.sequence(UInt64(count)))
            #expect(try seriesAnswers(then) == expected, "MESHLEDGER_SEED=\(seed), \(count) packets, cut at \(cut)")
            try await then.close()
        }
        for ledger in [short, whole] { try await ledger.close() }
    }
}
