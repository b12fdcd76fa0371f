import ArgumentParser
import Foundation
import Logging
import MeshIngest
import MeshLedger
import ServiceLifecycle
import UnixSignals

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Listen to all sources of a configuration, for years.",
        discussion: """
            Radios, brokers, multicast groups and files at once, in one process. A failing source does not affect the others. SIGTERM stores what was received, flushes the views and ends
            within 10 s; SIGHUP reads the file again, and unchanged sources stay connected.

              meshledger config example > mesh.yaml
              meshledger run mesh.yaml --check
              meshledger run mesh.yaml
              meshledger status --watch
              meshledger service install
            """)

    @OptionGroup var ledger: LedgerOption
    @Flag(help: "Only find mistakes in the file.") var check = false
    @Argument(help: "The configuration; `meshledger config example` prints one.", completion: .file()) var file: String

    private static let shutdownSeconds = 9
    /// How long after the beginning of a stop the views may still fold.
    private static let foldSeconds = 7.0

    func run() async throws {
        let config = try RunConfig(file: file)
        if check { return ConfigCheckCommand.report(config, file) }
        // From now on SIGHUP does not end the process: one that comes during the start is obeyed after it.
        let reloads = await UnixSignalsSequence(trapping: .sighup)
        let opened = try await open(config)
        let served: (events: UInt64, logger: Logger)
        let stopTime = StopTime()
        do {
            served = try await serve(config, opened, reloads, stopTime)
        } catch {
            _ = try? await opened.close(within: LiveListening.closeLimit)  // the first failure is the one to report
            throw error
        }
        let lag = try await opened.close(within: stopTime.left(of: Self.foldSeconds))
        served.logger.info("stopped: \(served.events.counted("event")) stored, \(LiveListening.flushed(lag))")
    }

    private func open(_ config: RunConfig) async throws -> Ledger {
        var option = ledger
        if option.ledger == nil { option.ledger = config.ledger }
        var options = CustomViews.options()
        if let backup = config.backup, BackupPlace.isInside(backup.folder, option.path) {
            throw CommandError(.badData, "\(file): backup: \(BackupPlace.text(option.path))")
        }
        if let sealing = config.sealing { options.log.sealing = sealing }
        if !FileManager.default.fileExists(atPath: option.path) {
            return try await Ledger.create(at: option.path, options: options)
        }
        return try await option.openForWriting(patience: .seconds(15), options: options)
    }

    /// - Returns: how many events its sources stored, and the log of the run.
    private func serve(
        _ config: RunConfig, _ ledger: Ledger, _ reloads: UnixSignalsSequence, _ stopTime: StopTime
    ) async throws -> (events: UInt64, logger: Logger) {
        let bar = ProgressBar("listening")
        let logger = RunLog.logger(config.logFormat, below: bar)
        LibraryLog.pass(to: RunLog(config.logFormat, below: bar))
        for warning in config.warnings { logger.warning("\(warning)") }
        if let policy = config.retention { try ledger.retention.setPolicy(policy) }
        let sources = RunningSources(into: ledger, logger: logger)
        ledger.reportSources { SourceReport.bytes(sources.statuses) }
        defer { ledger.reportSources(nil) }
        let manager = ServiceManager()
        var services: [any Service] = [
            SourceService(sources: sources, config: config, manager: manager, stopTime: stopTime),
            ReloadService(
                file: file, began: config, ledger: ledger, sources: sources, logger: logger, manager: manager, signals: reloads),
            WatchdogService(manager: manager, ledger: ledger), PlaceService(ledger: ledger),
            CountsService(ledger: ledger, bar: bar, logger: logger),
        ]
        if let backup = config.backup { services.append(BackupService(backup: backup, log: ledger.log, logger: logger)) }
        var quiet = logger
        quiet.logLevel = .error
        var group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, successTerminationBehavior: .ignore) },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        group.maximumGracefulShutdownDuration = .seconds(Self.shutdownSeconds)
        try await ServiceGroup(configuration: group).run()
        bar.end()
        return (sources.storedCount, logger)
    }
}

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check a configuration, or print an example.",
        shouldDisplay: false, subcommands: [ConfigCheckCommand.self, ConfigExampleCommand.self])
}

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Find mistakes in a configuration.",
        discussion: "  meshledger config check /etc/meshledger/mesh.yaml")

    @Argument(help: "The configuration; - for standard input.", completion: .file()) var file: String

    func run() throws { Self.report(try RunConfig(file: file), file) }

    static func report(_ config: RunConfig, _ file: String) {
        for warning in config.warnings { StandardOutput.error("meshledger: warning: \(DisplayWidth.safe(warning))") }
        StandardOutput().line("\(DisplayWidth.safe(file)) is valid: \(config.sourcesText)")
    }
}

struct ConfigExampleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "example", abstract: "Print a configuration with every setting, each explained.",
        discussion: "  meshledger config example > mesh.yaml")

    func run() { StandardOutput().write(ConfigExample.text) }
}
