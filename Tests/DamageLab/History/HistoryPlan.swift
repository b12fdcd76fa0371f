import EventLog
import Foundation
import MeshLedger
import MeshSimulator
import Meshtastic
import Projections
import TestKit

/// What happens in a history: which events come, and under which policies. The seed tells it, so that a process goes on where one that was
/// killed had come to.
struct HistoryPlan {
    /// More than the log leaves unsealed.
    let events: [NewEvent]
    /// From this event on the policies are the last ones and all keys are known: what comes then is folded step by step.
    let settled: Int
    private let seed: UInt64

    static let source = "mesh"

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        var mesh = MeshSimulation(
            SimulationOptions(
                seed: seed, nodes: Int.random(in: 4...40, using: &random), intervalMilliseconds: 60_000,
                badPerMille: [0, 10, 100][Int.random(in: 0...2, using: &random)]))
        events = (0..<Int.random(in: 260...400, using: &random)).map { _ in
            let reception = mesh.next()
            return NewEvent(
                reception.envelope, encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue),
                source: SourceID(rawValue: 1), reception: .recorded(Timestamp(seconds: Int64(reception.time))))
        }
        settled = Int.random(in: 0...events.count / 2, using: &random)
    }

    /// - Parameter policy: 0 is the last one.
    func options(policy: UInt64, flushes: inout SeededGenerator) -> LedgerOptions {
        var random = SeededGenerator(seed: seed &* 1_000_003 &+ policy)
        func some(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        var options = LedgerOptions(log: EventLogOptions(isDurable: false), isControllable: false)
        options.caps = ViewCaps(
            nodes: some(3...50), positions: some(1...20), telemetry: some(1...20), messages: some(1...40), waypoints: some(1...5),
            traceRoutes: some(1...20), links: some(1...40), gateways: some(1...4), gatewayNodes: some(2...60),
            mapReports: some(1...10), sensors: some(1...10), nodeHistory: some(1...4))
        if some(0...1) == 1 { options.caps.positionDedupe = .within(meters: 500) }
        options.caps.reducedPrecisionKeepsHistory = some(0...1) == 1
        options.flushPolicy = FlushPolicy(
            quietPeriod: .milliseconds([1, 50, 2_000][Int.random(in: 0...2, using: &flushes)]),
            immediateInterval: .milliseconds(Int.random(in: 0...20, using: &flushes)),
            pendingBytesLimit: [1, 1_000, 20 << 20][Int.random(in: 0...2, using: &flushes)])
        return options
    }

    static let everyKey = MeshSimulation.harbour.channels.reduce(Keyring.standard) { $0.adding($1) }
}
