import EventLog
import Foundation
import MeshLedger
import Meshtastic
import TestKit
import Testing

/// Envelopes that a script makes up with the official package's encoder, and recorded ones where they lie beside the checkout.
enum EnvelopeFile: CaseIterable {
    case generated, recorded

    /// Whether it is a case that this checkout cannot show.
    func isMissing(for what: String) -> Bool { self == .recorded && SharedFolder.isMissing(for: "recorded envelopes: " + what) }

    func lines() throws -> [String] {
        switch self {
        case .recorded:
            return try String(contentsOf: SharedFolder.file("captures/mqtt-envelopes.base64"), encoding: .utf8)
                .split(separator: "\n").map(String.init)
        case .generated:
            let folder = try TemporaryFolder()
            return try GeneratedCapture("envelopes", seed: 61, ["packets=500"], in: folder).lines()
        }
    }

    /// A ledger in memory with them in it.
    func ledger(options: LedgerOptions = LedgerOptions()) async throws -> Ledger {
        let ledger = try await Ledger.temporary(options: options)
        let source = try await ledger.log.source(named: "recording")
        let events = try lines().compactMap { Data(base64Encoded: $0) }.map {
            NewEvent(
                Array($0), encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue), source: source,
                reception: .unrecorded)
        }
        _ = try await ledger.log.append(events)
        return ledger
    }
}

@Suite(.enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)))
struct RecordedEnvelopes {
    @Test(.enabled(if: SharedFolder.exists, "needs ../shared"))
    func `the recorded envelopes become rows, the corrupt ones go to quarantine`() async throws {
        let ledger = try await EnvelopeFile.recorded.ledger()
        try await ledger.catchUp()
        #expect(ledger.log.head.rawValue == 337)
        #expect(try ledger.maintenance.quarantine(view: "nodes").count == 14)
        let nodes = try ledger.nodes()
        let receptions = nodes.reduce(0) { $0 + $1.receptions }
        // 323 can be read; 39 of them were there before, byte for byte, and are no receptions of their own.
        #expect(receptions == 284)
        #expect(nodes.count == 177)
        try await expectAll(of: ledger, 337)
        #expect(try ledger.positions(of: nil).count > 50)
        #expect(try ledger.telemetry(of: nil).count > 50)
        #expect(try ledger.messages().count > 0)
        try await ledger.close()
    }

    @Test func `generated envelopes become rows of every view, damaged ones go to quarantine`() async throws {
        let ledger = try await EnvelopeFile.generated.ledger()
        try await ledger.catchUp()
        let count = try EnvelopeFile.generated.lines().count
        try await expectAll(of: ledger, UInt64(count))
        let broken = try ledger.maintenance.quarantine(view: "nodes").count
        let receptions = try ledger.nodes().reduce(0) { $0 + $1.receptions }
        // Packets from nobody are of no node.
        #expect(broken > 0 && receptions <= count - broken && receptions > count * 8 / 10)
        #expect(try ledger.positions(of: nil).count > 1 && ledger.telemetry(of: nil).count > 1 && ledger.messages().count > 1)
        #expect(try ledger.waypoints().count > 1 && ledger.traceRoutes().count > 1 && ledger.links().count > 1)
        try await ledger.close()
    }

    private func expectAll(of ledger: Ledger, _ count: UInt64) async throws {
        for status in try await ledger.maintenance.views() {
            #expect(status.checkpoint == count)
            #expect(!status.isStale)
        }
    }

    @Test(arguments: EnvelopeFile.allCases) func `a rebuild gives the same rows`(file: EnvelopeFile) async throws {
        if file.isMissing(for: "a rebuild gives the same rows") { return }
        let ledger = try await file.ledger()
        try await ledger.catchUp()
        let names = Ledger.viewNames
        let before = try names.map { try ledger.maintenance.digest(of: $0) }
        try await ledger.maintenance.rebuild()
        #expect(try names.map { try ledger.maintenance.digest(of: $0) } == before)
        try await ledger.maintenance.rebuild(["messages"])
        #expect(try names.map { try ledger.maintenance.digest(of: $0) } == before)
        try await ledger.close()
    }

    @Test(arguments: EnvelopeFile.allCases)
    func `D2: a key that comes late opens what was stored before`(file: EnvelopeFile) async throws {
        if file.isMissing(for: "a late key opens what was stored before") { return }
        let ledger = try await file.ledger()
        try await ledger.catchUp()
        let before = try ledger.maintenance.digest(of: "positions")
        try await ledger.keys.set(Keyring())
        try await ledger.catchUp()
        #expect(try ledger.maintenance.digest(of: "positions") != before)
        try await ledger.keys.set(.standard)
        try await ledger.catchUp()
        #expect(try ledger.maintenance.digest(of: "positions") == before)
        try await ledger.close()
    }
}
