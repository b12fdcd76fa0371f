import Foundation
import MeshIngest
import MeshLedger

/// Runs one live source until a signal stops it, and reports on standard error.
struct LiveListening {
    /// How long to wait for another writing command that does not accept events from this one.
    static let patience = Duration.seconds(15)

    let ledger: LedgerWriter
    private let bar = ProgressBar("listening")

    init(_ ledger: LedgerWriter) { self.ledger = ledger }

    var target: IngestTarget {
        IngestTarget(log: ledger) { [ledger] in try await ledger.flush() }
    }

    /// The receiver of a source's notices.
    var report: @Sendable (SourceStatus, String) -> Void {
        { [bar] _, text in
            bar.end()
            StandardOutput.error("meshledger: \(DisplayWidth.safe(text))")
        }
    }

    /// - Parameter after: what remains to be done when it has ended, before the ledger is closed
    func run(_ source: any LiveSource, after: () async throws -> Void = {}) async throws {
        let ticker = Task { [bar] in
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(500))
                bar.show(fraction: nil, done: source.status.storedCount, unit: "packets stored")
            }
        }
        let outcome: Result<Void, any Error>
        do {
            try await ledger.reportSources { SourceReport.bytes([source.status]) }
            _ = try await StopSignals.cancelling { try await source.run() }
            try await after()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        ticker.cancel()
        bar.end()
        do {
            try await ledger.close()
        } catch {
            _ = try outcome.get()
            throw error
        }
        let status = source.status
        if status.connectionCount > 0 {
            let dropped = status.droppedCount > 0 ? ", \(status.droppedCount) dropped" : ""
            StandardOutput.error(
                "meshledger: \(status.storedCount) of \(status.receivedCount) packets stored\(dropped), views flushed")
        }
        try outcome.get()
    }
}
