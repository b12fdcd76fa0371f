import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

@testable import MeshIngest

@Suite(.enabled(if: SharedFolder.exists, "needs ../shared"))
struct LedgerImportTests {
    @Test func `an import into a ledger ends with its views at the head`() async throws {
        let ledger = try await Ledger.temporary()
        let report = try await FileImport(SharedFolder.file("captures/mqtt-envelopes.base64").path, into: IngestTarget(ledger))
            .run()
        #expect(report.eventCount == 337)
        let views = try await ledger.maintenance.views()
        #expect(views.allSatisfy { $0.checkpoint == 337 })
        #expect(try ledger.maintenance.quarantine(view: "nodes").count == 14)
        #expect(try !ledger.nodes().isEmpty)
        try await ledger.close()
    }
}
