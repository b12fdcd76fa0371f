import EventLog
import Foundation
import Logging
import MeshIngest
import MeshLedger
import ServiceLifecycle
import Synchronization
import UnixSignals

/// When the process began to stop.
final class StopTime: Sendable {
    private let began = Mutex<ContinuousClock.Instant?>(nil)

    func begin() { began.withLock { $0 = .now } }

    /// What is left of these seconds, but at least one.
    func left(of seconds: Double) -> Duration {
        let passed = began.withLock { $0?.duration(to: .now) } ?? .zero
        return max(.seconds(1), .seconds(seconds) - passed)
    }
}

/// Runs the sources until the process shuts down.
struct SourceService: Service {
    let sources: RunningSources
    let config: RunConfig
    let manager: ServiceManager
    let stopTime: StopTime

    func run() async throws {
        await sources.apply(config.sources)
        manager.notify("READY=1", "STATUS=\(config.sourcesText)")
        try? await gracefulShutdown()  // if cancelled, it ends as well
        stopTime.begin()
        manager.notify("STOPPING=1")
        try await sources.stop()
    }
}

/// Reads the configuration again on SIGHUP.
struct ReloadService: Service {
    let file: String
    let began: RunConfig
    let ledger: Ledger
    let sources: RunningSources
    let logger: Logger
    let manager: ServiceManager
    let signals: UnixSignalsSequence

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            do {
                let config = try RunConfig(file: file)
                // First what can fail: then nothing is applied.
                if let policy = config.retention { try ledger.retention.setPolicy(policy) }
                await sources.apply(config.sources)
                if !config.differsInSourcesOnly(from: began) {
                    logger.warning("changes of ledger, log, sealing and backup apply from the next start")
                }
                for warning in config.warnings { logger.warning("\(warning)") }
                logger.notice("\(file) was read again: \(config.sourcesText)")
                manager.notify("STATUS=\(config.sourcesText)")
            } catch {
                for line in CommandError(known: error)?.lines ?? ["\(error)"] { logger.error("\(line)") }
                logger.error("\(file) is not applied; everything continues as before")
            }
        }
    }
}

/// Sends keep-alive notices to the service manager, as long as tasks are scheduled and the ledger answers.
struct WatchdogService: Service {
    let manager: ServiceManager
    let ledger: Ledger

    func run() async throws {
        let seconds = manager.watchdogSeconds.map { $0 / 2 }
        while !Task.isShuttingDownGracefully {
            if seconds != nil, await ledger.maintenance.condition() != nil { manager.notify("WATCHDOG=1") }
            await Self.wait(seconds ?? 3_600)
            if Task.isCancelled { return }
        }
    }
}

/// Ends the process when the ledger is no longer at its path: nothing can be stored there.
struct PlaceService: Service {
    let ledger: Ledger

    func run() async throws {
        let place = LedgerPlace(ledger.path)
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            guard place.isThere else {
                throw CommandError(
                    .inputOutput,
                    "the ledger \(ledger.path) was moved, removed or replaced while it was open; start again with the right one")
            }
            await Self.wait(1)
        }
    }
}

/// Says how much was received: on a terminal in a line, else every minute in the log.
struct CountsService: Service {
    let ledger: Ledger
    let bar: ProgressBar
    let logger: Logger

    func run() async throws {
        let counts = try await IngestCounts(ledger)
        let show: @Sendable () async throws -> Void = { [bar, logger] in await counts.show(on: bar) { logger.info("\($0)") } }
        try? await cancelWhenGracefulShutdown(show)  // it matters only that it has ended
    }
}

/// Updates a backup at the start, then at regular intervals.
struct BackupService: Service {
    let backup: RunConfig.Backup
    let log: EventLog
    let logger: Logger

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let isStopped = StopFlag()
            let (folder, log, logger) = (backup.folder, log, logger)
            let work = Task.detached {
                do {
                    let report = try log.backup(to: folder) { _ in !isStopped.isSet }
                    logger.info(
                        "\(report.eventCount.counted("event is", "events are")) in the backup \(folder), \(report.written.grouped) written now"
                    )
                } catch {
                    if !isStopped.isSet { logger.error("the backup failed: \(error)") }
                }
            }
            await withGracefulShutdownHandler {
                await work.value
            } onGracefulShutdown: {
                isStopped.set()
            }
            await Self.wait(Double(backup.everySeconds))
        }
    }
}

extension Service {
    /// Waits, but no longer than the process runs.
    fileprivate static func wait(_ seconds: Double) async {
        let wait: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(seconds)) }
        try? await cancelWhenGracefulShutdown(wait)  // it matters only that the wait has ended
    }
}
