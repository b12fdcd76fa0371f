import ArgumentParser
import EventLog
import Foundation
import MeshIngest
import MeshLedger
import MeshTables

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "What the running sources are doing.",
        discussion: """
            Each source of the process that writes to the ledger: its state, packets a second, how far its storing lags behind, and its last error.

              meshledger status
              meshledger status --watch
              meshledger status --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(help: "table, json, jsonl or csv.") var format = OutputFormat.table
    @Flag(help: "Show it again every second, until Ctrl-C.") var watch = false

    func run() async throws {
        try await show()
        while watch {
            try await Task.sleep(for: .seconds(1))
            if isatty(1) == 1 { StandardOutput().write("\u{1b}[H\u{1b}[2J") }
            do {
                try await show()
            } catch let error as CommandError where error.status == .noInput {
                // It may be starting again.
                StandardOutput.error(error.message)
            }
        }
    }

    private func show() async throws {
        guard let bytes = try await LedgerWriter.sources(at: ledger.path), let statuses = SourceReport.statuses(bytes) else {
            throw CommandError(
                .noInput,
                "no process with live sources writes to \(ledger.path); start one with `meshledger run` or `meshledger ingest`")
        }
        let writer = RowWriter(Self.columns, format: format, output: StandardOutput())
        for status in statuses { writer.write(status) }
        writer.finish(emptyNote: "no sources")
    }

    /// Without the source, and with its age where the source has recovered since.
    static func shownError(_ status: SourceStatus) -> String? {
        guard var text = status.lastError else { return nil }
        if let end = text.firstRange(of: ": "), status.name.hasPrefix(text[..<end.lowerBound]) {
            text = String(text[end.upperBound...])
        }
        if [.live, .replaying].contains(status.state), let time = status.lastErrorTime {
            text = "\(age(since: time)) ago: \(text)"
        }
        return text
    }

    private static func age(since time: Timestamp) -> String {
        let seconds = max(0, Timestamp.now.seconds - time.seconds)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }

    private static var columns: [Column<SourceStatus>] {
        [
            Column("source", canCut: true) { .text($0.name) },
            Column("state") { .text($0.state.rawValue) },
            Column("since") { .instant($0.since) },
            Column("stored") { .unsigned($0.storedCount) },
            Column("rate", unit: "/s", shown: { String(format: "%.1f", $0.ratePerSecond) }) { .double($0.ratePerSecond) },
            Column("lag", unit: "s", shown: { String(format: "%.1f", $0.lagSeconds) }) { .double($0.lagSeconds) },
            Column("dropped") { .unsigned($0.droppedCount) },
            Column("clients") { $0.clientCount.map { .unsigned(UInt64($0)) } ?? .null },
            Column("received", isDetail: true) { .unsigned($0.receivedCount) },
            Column("connections", isDetail: true) { .unsigned($0.connectionCount) },
            Column("skipped_bytes", isDetail: true) { .unsigned($0.skippedBytes) },
            Column("last_arrival", isDetail: true) { $0.lastArrival.map { .instant($0) } ?? .null },
            Column("last_error_time", isDetail: true) { $0.lastErrorTime.map { .instant($0) } ?? .null },
            Column("last_error", canCut: true, shown: shownError) { .optional($0.lastError ?? "") },
        ]
    }
}
