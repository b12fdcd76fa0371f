import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

@testable import MeshIngest

/// How many rows each view makes of each capture, and what it hashes to: both are committed in `Tests/Fixtures/captures.tsv`, the captures are not.
///
/// `MESHLEDGER_WRITE=1` rewrites the table, after a view has got another version. That the rows are right is what the fold in Python says,
/// which `IndependentFold` compares row by row; it demands these numbers of it, too.
@Suite(.enabled(if: SharedFolder.exists, "needs ../shared"))
struct RecordedViews {
    private static let captures = [
        "json-messages.jsonl", "mqtt-envelopes.base64", "packets-2025-09.jsonl", "single-packets.jsonl", "tcp-stream.bin",
        "udp-datagrams.jsonl",
    ]
    private static let table = PackageRoot.url.appendingPathComponent("Tests/Fixtures/captures.tsv")
    private static let heading = "capture\tview\ttable\trows\tdigest of the view"

    /// The clock stands still, so that checkpoints and the times of rows without any other are the same each time.
    private func lines(of capture: String) async throws -> [String] {
        let clock: @Sendable () -> Timestamp = { Timestamp(seconds: 1_790_000_000) }
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(isDurable: false, clock: clock)))
        _ = try await FileImport(SharedFolder.file("captures/" + capture).path, into: IngestTarget(ledger)).run()
        try await ledger.catchUp()
        var lines: [String] = []
        for view in try await ledger.maintenance.views() {
            let digest = try ledger.maintenance.digest(of: view.name)
            for (table, count) in view.rows.sorted(by: { $0.key < $1.key }) {
                lines.append("\(capture)\t\(view.name)\t\(table)\t\(count)\t\(digest)")
            }
        }
        try await ledger.close()
        return lines
    }

    @Test(.timeLimit(.minutes(40))) func `each view of each capture has the rows that it had`() async throws {
        var found = [Self.heading]
        for capture in Self.captures { found += try await lines(of: capture) }
        let text = found.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["MESHLEDGER_WRITE"] != nil { try Data(text.utf8).write(to: Self.table) }
        let known = try String(contentsOf: Self.table, encoding: .utf8).split(separator: "\n").map(String.init)
        let (news, gone) = (Set(found).subtracting(known), Set(known).subtracting(found))
        #expect(
            news.isEmpty && gone.isEmpty,
            """
            \(news.sorted().joined(separator: "\n")) instead of
            \(gone.sorted().joined(separator: "\n")). If this is meant: MESHLEDGER_WRITE=1 swift test --filter RecordedViews
            """)
        #expect(known.count > 6 * 13)
    }
}
