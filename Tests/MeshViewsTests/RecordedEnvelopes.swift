import EventLog
import Foundation
import MeshLedger
import MeshViews
import Meshtastic
import TestKit
import Testing

/// A ledger in memory with the recorded envelopes in it.
func ledgerOfRecordedEnvelopes(options: LedgerOptions = LedgerOptions()) async throws -> Ledger {
    let ledger = try await Ledger.temporary(options: options)
    let source = try await ledger.log.source(named: "recording")
    let text = try String(contentsOf: SharedFolder.file("captures/mqtt-envelopes.base64"), encoding: .utf8)
    let events = text.split(separator: "\n").compactMap { Data(base64Encoded: String($0)) }.map {
        NewEvent(
            Array($0), encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue), source: source,
            reception: .unrecorded)
    }
    _ = try await ledger.log.append(events)
    return ledger
}

@Suite(.enabled(if: SharedFolder.exists, "needs ../shared"))
struct RecordedEnvelopes {
    @Test func `the recorded envelopes become rows, the corrupt ones go to quarantine`() async throws {
        let ledger = try await ledgerOfRecordedEnvelopes()
        try await ledger.catchUp()
        #expect(ledger.log.head.rawValue == 337)
        #expect(try ledger.quarantine(view: "nodes").count == 14)
        let nodes = try ledger.nodes()
        let receptions = nodes.reduce(0) { $0 + $1.receptions }
        // 323 can be read; 39 of them were there before, byte for byte, and are no receptions of their own.
        #expect(receptions == 284)
        #expect(nodes.count == 177)
        for status in try await ledger.views() {
            #expect(status.checkpoint == 337)
            #expect(!status.isStale)
        }
        #expect(try ledger.positions(of: nil).count > 50)
        #expect(try ledger.telemetry(of: nil).count > 50)
        #expect(try ledger.messages().count > 0)
        try await ledger.close()
    }

    @Test func `a rebuild gives the same rows`() async throws {
        let ledger = try await ledgerOfRecordedEnvelopes()
        try await ledger.catchUp()
        let names = Ledger.viewNames
        let before = try names.map { try ledger.digest(of: $0) }
        try await ledger.rebuild()
        #expect(try names.map { try ledger.digest(of: $0) } == before)
        try await ledger.rebuild(["messages"])
        #expect(try names.map { try ledger.digest(of: $0) } == before)
        try await ledger.close()
    }

    @Test func `D2: a key that comes late opens what was stored before`() async throws {
        let ledger = try await ledgerOfRecordedEnvelopes()
        try await ledger.catchUp()
        let before = try ledger.digest(of: "positions")
        try await ledger.setKeyring(Keyring())
        try await ledger.catchUp()
        #expect(try ledger.digest(of: "positions") != before)
        try await ledger.setKeyring(.standard)
        try await ledger.catchUp()
        #expect(try ledger.digest(of: "positions") == before)
        try await ledger.close()
    }
}
