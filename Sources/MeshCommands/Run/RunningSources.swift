import EventLog
import Foundation
import Logging
import MeshIngest
import MeshLedger
import Synchronization

/// The running live sources, by their names in the configuration.
///
/// Synchronization: the mutex guards the running sources; only one task applies configurations.
final class RunningSources: Sendable {
    private struct Running {
        var config: SourceConfig
        var source: any LiveSource
        var task: Task<Void, Never>
    }

    private let running = Mutex<[Running]>([])
    private let ledger: Ledger
    private let logger: Logger

    init(into ledger: Ledger, logger: Logger) { (self.ledger, self.logger) = (ledger, logger) }

    var statuses: [SourceStatus] { running.withLock { $0.map(\.source) }.map(\.status) }

    /// Ends the sources that were removed or changed, and starts the new ones. Unchanged sources stay connected.
    func apply(_ wanted: [SourceConfig]) async throws {
        let present = running.withLock { $0 }
        let (kept, gone) = (present.filter { wanted.contains($0.config) }, present.filter { !wanted.contains($0.config) })
        let new = wanted.filter { config in !kept.contains { $0.config == config } }
        // Sources that cannot be set up are found before any other ends.
        let sources = try new.map { config in
            try config.source(into: ledger) { [logger] status, text in Self.log(logger, status, text) }
        }
        await Self.end(gone)
        let begun = zip(new, sources).map { config, source in
            Running(config: config, source: source, task: Task { [logger] in await Self.run(source, logger) })
        }
        running.withLock { $0 = kept + begun }
    }

    /// Ends all sources, and stores what they have received.
    func stop() async { await Self.end(running.withLock { $0 }) }

    private static func end(_ gone: [Running]) async {
        for running in gone { running.task.cancel() }
        for running in gone { await running.task.value }
    }

    /// A failing source does not affect the others; `status` shows its state and last error.
    private static func run(_ source: any LiveSource, _ logger: Logger) async {
        do {
            try await source.run()
        } catch {
            logger.error("\(error)", metadata: ["source": "\(source.name)", "state": "failed"])
        }
    }

    private static func log(_ logger: Logger, _ status: SourceStatus, _ text: String) {
        let level: Logger.Level = status.state == .waiting ? .warning : .info
        if status.state == .failed { return }  // `run` reports it
        logger.log(level: level, "\(text)", metadata: ["source": "\(status.name)"])
    }
}
