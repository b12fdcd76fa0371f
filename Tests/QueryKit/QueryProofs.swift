public import MeshLedger
import MeshSimulator
import TestKit

/// Runs random queries over all views of a simulated mesh.
public struct QueryProofs: Sendable {
    public let ledger: Ledger
    public let proofs: [QueryProof]

    /// - Parameter others: envelopes beside those of the simulation, which has no strength that is NaN.
    public init(packets: Int, and others: [[UInt8]] = [], seed: UInt64) async throws {
        ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        let source = try await ledger.log.source(named: "simulated")
        var simulation = MeshSimulation(SimulationOptions(seed: seed, nodes: 12))
        var batch = EventBatch()
        for _ in 0..<packets { batch.append(NewEvent(simulation.next().envelope, encoding: .serviceEnvelope, source: source)) }
        for envelope in others { batch.append(NewEvent(envelope, encoding: .serviceEnvelope, source: source)) }
        try await ledger.log.append(batch)
        try await ledger.catchUp()
        proofs = try Self.all(ledger).filter { $0.rowCount > 0 }
    }

    /// Runs the queries of these numbers.
    /// - Returns: a text for each that failed, with its number; one text if there is no row, since nothing was proved then.
    public func run(_ numbers: Range<UInt64>, seed: UInt64) throws -> [String] {
        guard !proofs.isEmpty else { return ["no view of seed \(seed) has a row"] }
        var failures: [String] = []
        for number in numbers {
            let proof = proofs[Int(number % UInt64(proofs.count))]
            var random = SeededGenerator(seed: seed &+ number &* 0x9e37_79b9)
            do {
                if let difference = try proof.run(random.next()) {
                    failures.append("query \(number) of seed \(seed): \(difference)")
                }
            } catch {
                failures.append("query \(number) of seed \(seed), \(proof.view): \(error)")
            }
            if failures.count >= 20 { break }
        }
        return failures
    }

    private static func all(_ ledger: Ledger) throws -> [QueryProof] {
        [
            try QueryProof(ledger, nodes), try QueryProof(ledger, positions), try QueryProof(ledger, telemetry),
            try QueryProof(ledger, messages), try QueryProof(ledger, links), try QueryProof(ledger, traceRoutes),
            try QueryProof(ledger, waypoints), try QueryProof(ledger, gateways), try QueryProof(ledger, hardware),
            try QueryProof(ledger, mapReports), try QueryProof(ledger, nodeChanges),
        ]
    }

    private static var nodes: [Field<NodeRow>] {
        [
            .number("number", \.number), .text("longName", \.longName), .text("shortName", \.shortName),
            .number("hardwareModel", \.hardwareModel), .flag("isViaMQTT", \.isViaMQTT), .number("lastHeard", \.lastHeard),
            .decimal("snr", \.snr), .optional("rssi", \.rssi), .optional("hopsAway", \.hopsAway), .text("channel", \.channel),
            .number("packets", \.packets), .list("publicKey", \.publicKey),
        ]
    }

    private static var positions: [Field<PositionRow>] {
        [
            .number("node", \.node), .number("time", \.time), .number("sequence", \.sequence),
            .number("latitudeE7", \.latitudeE7),
            .decimal("latitude", \.latitude), .optional("altitude", \.altitude), .optional("groundSpeed", \.groundSpeed),
            .number("gateway", \.gateway), .decimal("snr", \.snr), .optional("rssi", \.rssi), .value("timeSource", \.timeSource),
        ]
    }

    private static var telemetry: [Field<TelemetryRow>] {
        [
            .number("node", \.node), .value("kind", \.kind), .number("time", \.time), .number("sequence", \.sequence),
            .number("gateway", \.gateway), .list("metrics", \.metrics),
        ]
    }

    private static var messages: [Field<MessageRow>] {
        [
            .value("thread", \.thread), .number("time", \.time), .number("sequence", \.sequence), .number("from", \.from),
            .number("to", \.to), .number("id", \.id), .text("text", \.text), .number("replyID", \.replyID),
            .flag("isReaction", \.isReaction), .value("state", \.state), .number("receptions", \.receptions),
            .list("gateways", \.gateways), .text("channel", \.channel),
        ]
    }

    private static var links: [Field<LinkRow>] {
        [
            .number("hearer", \.hearer), .number("heard", \.heard), .number("time", \.time), .number("direct", \.direct),
            .number("count", \.count), .decimal("snr", \.snr), .optional("rssi", \.rssi),
        ]
    }

    private static var traceRoutes: [Field<TraceRouteRow>] {
        [
            .number("from", \.from), .number("id", \.id), .number("to", \.to), .number("time", \.time),
            .text("channel", \.channel),
            .flag("isAnswered", \.isAnswered), .list("route", \.route),
        ]
    }

    private static var waypoints: [Field<WaypointRow>] {
        [
            .number("id", \.id), .number("time", \.time), .number("from", \.from), .text("name", \.name),
            .number("expire", \.expire),
            .flag("isDeleted", \.isDeleted),
        ]
    }

    private static var gateways: [Field<GatewayRow>] {
        [
            .number("gateway", \.gateway), .number("time", \.time), .number("receptions", \.receptions),
            .number("nodes", \.nodes),
            .number("sequence", \.sequence),
        ]
    }

    private static var hardware: [Field<HardwareRow>] {
        [.number("model", \.model), .number("node", \.node), .number("time", \.time), .text("firmware", \.firmware)]
    }

    private static var mapReports: [Field<MapReportRow>] {
        [.number("node", \.node), .number("time", \.time), .text("longName", \.longName), .number("role", \.role)]
    }

    private static var nodeChanges: [Field<NodeChangeRow>] {
        [.number("node", \.node), .number("time", \.time), .number("sequence", \.sequence), .text("longName", \.longName)]
    }
}
