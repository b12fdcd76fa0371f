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
        var source: RetriedSource
        var task: Task<Void, Never>
    }

    private let running = Mutex<[Running]>([])
    /// What sources that are no longer configured have stored.
    private let storedBefore = Atomic<UInt64>(0)
    private let ledger: Ledger
    private let logger: Logger

    init(into ledger: Ledger, logger: Logger) { (self.ledger, self.logger) = (ledger, logger) }

    var statuses: [SourceStatus] { running.withLock { $0.map(\.source) }.map(\.status) }

    var storedCount: UInt64 { statuses.reduce(storedBefore.load(ordering: .relaxed)) { $0 + $1.storedCount } }

    /// Ends the sources that were removed or changed, and starts the new ones and those that failed. Others stay connected, also where
    /// only the sharing of a radio has changed.
    func apply(_ wanted: [SourceConfig]) async {
        let present = running.withLock { $0 }
        let kept = present.compactMap { running -> Running? in
            guard running.source.status.state != .failed,
                let config = wanted.first(where: { $0.key == running.config.key && $0.kind == running.config.kind })
            else { return nil }
            return Running(config: config, source: running.source, task: running.task)
        }
        let gone = present.filter { running in !kept.contains { $0.source === running.source } }
        await Self.end(gone)
        storedBefore.add(gone.reduce(0) { $0 + $1.source.status.storedCount }, ordering: .relaxed)
        for running in kept { running.source.share(running.config.share) }
        let new = wanted.filter { config in !kept.contains { $0.config.key == config.key } }
        let begun = new.map { config in
            let source = RetriedSource(config, into: ledger, logger: logger)
            return Running(config: config, source: source, task: Task { await source.run() })
        }
        running.withLock { $0 = kept + begun }
    }

    /// Ends all sources, and stores what they have received.
    /// - Throws: if the ledger did not accept everything.
    func stop() async throws(CommandError) {
        let all = running.withLock { $0 }
        let working = all.map(\.source).filter { $0.status.state != .failed }
        await Self.end(all)
        let failed = working.map(\.status).filter { $0.state == .failed }.map(\.name)
        guard failed.isEmpty else {
            throw CommandError(
                .inputOutput, "not everything was stored at the end, as the log says: \(failed.joined(separator: ", "))")
        }
    }

    private static func end(_ gone: [Running]) async {
        for running in gone { running.task.cancel() }
        for running in gone { await running.task.value }
    }
}

/// A source that is set up again some time after it has failed; others are not affected meanwhile.
///
/// Synchronization: the mutex guards the source of the moment and its failure.
final class RetriedSource: Sendable {
    private struct State {
        var config: SourceConfig
        var source: (any LiveSource)?
        var failure: (text: String, time: Timestamp)?
        /// The counts of the sources of before.
        var before = SourceStatus(name: "")
        var trouble = LastingTrouble()
    }

    /// Seconds from a failure that retrying at once does not cure, such as a wrong password, to the next attempt.
    private let pause_s: Int
    private let ledger: Ledger
    private let logger: Logger
    private let state: Mutex<State>

    init(_ config: SourceConfig, into ledger: Ledger, logger: Logger, pause_s: Int = 300) {
        (self.ledger, self.logger, self.pause_s) = (ledger, logger, pause_s)
        state = Mutex(State(config: config))
    }

    var status: SourceStatus {
        state.withLock { state in
            var status = state.source?.status ?? SourceStatus(name: state.config.key)
            if let name = state.config.name { status.name = name }
            status.addCounts(of: state.before)
            if let failure = state.failure {
                status.state = .failed
                (status.since, status.lastError, status.lastErrorTime) = (failure.time, failure.text, failure.time)
            }
            return status
        }
    }

    /// Shares a radio in another way, or no longer.
    func share(_ options: ShareOptions?) {
        let radio = state.withLock { state in
            state.config.share = options
            return state.source as? SharedRadio
        }
        radio?.share(options)
    }

    /// Runs until the task is cancelled.
    func run() async {
        while true {
            do {
                let source = try state.withLock { state in
                    let source = try state.config.source(into: ledger) { [weak self] in self?.log($0, $1) }
                    if let ended = state.source?.status { state.before.addCounts(of: ended) }
                    (state.source, state.failure) = (source, nil)
                    return source
                }
                return try await source.run()
            } catch {
                let text = CommandError(known: error)?.message ?? "\(error)"
                state.withLock { $0.failure = (text, .now) }
                let name = status.name
                let next = Task.isCancelled ? "" : "; trying again in \(pause_s / 60) minutes, or on SIGHUP"
                logger.error(
                    "\(text)\(next)",
                    metadata: ["source": "\(name)", "state": "failed"])
            }
            guard (try? await Task.sleep(for: .seconds(pause_s))) != nil else { return }  // cancelled
        }
    }

    private func log(_ status: SourceStatus, _ text: String) {
        let level: Logger.Level = status.state == .waiting ? .warning : .info
        if status.state == .failed { return }  // `run` reports it
        guard let line = state.withLock({ $0.trouble.line(status.state, text) }) else { return }
        logger.log(level: level, "\(line)", metadata: ["source": "\(status.name)"])
    }
}
