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

    /// The receiver of a source's notices. With a failure that ends the source, the command ends, and reports it then.
    var report: @Sendable (SourceStatus, String) -> Void {
        { [say] status, text in if status.state != .failed { say(text) } }
    }

    var say: @Sendable (String) -> Void {
        { [bar] text in
            bar.end()
            StandardOutput.error("meshledger: \(DisplayWidth.safe(text))")
        }
    }

    /// - Parameters:
    ///   - after: what remains to be done when it has ended, before the ledger is closed
    ///   - summary: what to say of it at the end
    func run(
        _ source: any LiveSource, after: () async throws -> Void = {}, summary: (SourceStatus) -> String = Self.summary
    ) async throws {
        let counts = try await IngestCounts(ledger)
        let ticker = Task { [bar] in await counts.show(on: bar) }
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
        await ticker.value
        bar.end()
        var (flushed, failure): (String, (any Error)?) = ("", nil)
        do {
            flushed = ", " + Self.flushed(try await ledger.close(within: Self.closeLimit))
        } catch {
            failure = error
        }
        let status = source.status
        if status.connectionCount > 0 { StandardOutput.error("meshledger: \(summary(status))\(flushed)") }
        try outcome.get()  // the first failure is the one to report
        if let failure { throw failure }
    }

    /// How long views that lag behind the log go on folding at the end, so that the process ends within ten seconds.
    static let closeLimit = Duration.seconds(5)

    /// What was done with the views at the end.
    static func flushed(_ lag: UInt64) -> String {
        lag == 0 ? "views flushed" : "views flushed; the last \(lag.counted("event is", "events are")) folded at the next start"
    }

    private static func summary(_ status: SourceStatus) -> String {
        let dropped = status.droppedCount > 0 ? ", \(status.droppedCount) dropped" : ""
        return "\(status.storedCount) of \(status.receivedCount.counted("event")) stored\(dropped)"
    }
}
