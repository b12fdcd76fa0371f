import ArgumentParser
import EventLog
import Foundation
import MeshLedger

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Bring a backup up to date, even during writes.",
        discussion: """
            The first run copies everything, later runs only new events. Each part is read back before it counts; if a run is interrupted, the
            backup is still that of the last complete run. Events that were erased in the ledger leave the backup with the next run; if rows of
            dropped events were erased, all dropped events that an earlier run copied leave it, too. If retention has cut
            the ledger, the views' rows of the dropped events are included, and so are the policy and the positions of consumers;
            dropped events that an earlier run copied stay in the backup, from which earlier states can be restored. Later runs do not read the parts that are there;
            --verify does. Ends with status 1 if such rows
            are missing or damaged in the ledger: everything else is in the backup, and is restored.

            Channel keys are included only with --with-keys, the key that signs checkpoints only with --with-signing-key: without it a restored ledger
            signs with a new one. A backup has no views, since they follow from the events.

              meshledger backup /srv/backup/mesh
              meshledger backup --verify /srv/backup/mesh
              meshledger restore /srv/backup/mesh restored.ledger
            """)

    @OptionGroup var ledger: LedgerOption
    @Flag(help: "Include the channel keys.") var withKeys = false
    @Flag(help: "Include the key that signs checkpoints.") var withSigningKey = false
    @Flag(help: "Only read the backup from end to end and report whether it is whole; needs no ledger.") var verify = false
    @Argument(help: "The backup's folder.", completion: .directory) var folder: String

    func run() async throws {
        if verify { return try check() }
        if BackupPlace.isInside(folder, ledger.path) { throw CommandError(.usage, BackupPlace.text(ledger.path)) }
        let log = try ledger.openLogForReading()
        let bar = ProgressBar("backing up")
        let report: BackupReport
        do {
            let options = BackupOptions(includesKeys: withKeys, includesSigningKey: withSigningKey)
            report = try log.backup(to: folder, options: options) { bar.show($0) }
        } catch {
            bar.end()
            await log.close()
            throw error
        }
        bar.end()
        await log.close()
        let output = StandardOutput()
        output.line(
            "\(report.eventCount.counted("event is", "events are")) in \(folder), \(report.written.grouped) written now (\(report.writtenBytes.counted("byte")))"
        )
        if report.rewrittenParts > 0 {
            output.line("\(report.rewrittenParts.counted("part was", "parts were")) rewritten without the erased events")
        }
        if let last = report.gaveUpThrough {
            output.line(
                "events up to \(last), which retention had dropped, left the backup, since rows of them were erased: no state before them can be restored"
            )
        }
        let files = EventLog.keyFiles(ofBackup: folder)
        for (isAsked, file, what) in [(withKeys, files.channels, "channel keys"), (withSigningKey, files.signing, "signing key")]
        where !isAsked && FileManager.default.fileExists(atPath: file) {
            output.line("the \(what) of an earlier run stayed in it: remove \(file) before you hand it to others")
        }
        output.flush()
        try Self.reportMissing(report.missingBaselines, "is missing or damaged in \(ledger.path) and is not in the backup")
    }

    private static func reportMissing(_ views: [String], _ what: String) throws {
        for view in views {
            StandardOutput.error("meshledger: the baseline of the view \(view), its rows of dropped events, \(what)")
        }
        if !views.isEmpty { throw ExitCode(ExitStatus.verificationFailed.rawValue) }
    }

    private func check() throws {
        let bar = ProgressBar("reading the backup")
        defer { bar.end() }
        do {
            let contents = try EventLog.checkBackup(folder) { bar.show($0) }
            bar.end()
            let time = TimeText.iso(contents.time.seconds)
            let from = contents.first.rawValue > 1 ? " from event \(contents.first) on" : ""
            let files = contents.fileCount > 0 ? " and \(contents.fileCount.counted("file"))" : ""
            StandardOutput().line(
                "\(contents.eventCount.counted("event")) of the ledger \(contents.ledger)\(from) in \(contents.partCount.counted("part"))\(files), of \(time): \(contents.missingBaselines.isEmpty ? "all" : "what it has is") intact"
            )
            try Self.reportMissing(contents.missingBaselines, "was missing or damaged in the ledger and is not in the backup")
        } catch let error as EventLogError {
            guard error.code == .corrupt else { throw error }
            bar.end()
            throw CommandError(.verificationFailed, "\(error)")
        }
    }
}

extension ProgressBar {
    /// - Returns: true, so that the work continues.
    func show(_ progress: RecordingProgress) -> Bool {
        let fraction = progress.total.map { $0 == 0 ? 1 : Double(progress.done) / Double($0) }
        show(fraction: fraction, done: progress.done, unit: "events")
        return true
    }
}

/// Where a backup may be.
enum BackupPlace {
    /// Whether a folder is in that of the ledger, and would be lost with it.
    static func isInside(_ folder: String, _ ledger: String) -> Bool {
        resolved(folder).starts(with: resolved(ledger))
    }

    static func text(_ ledger: String) -> String {
        "the backup would be inside the ledger \(ledger), and lost with it; choose a folder elsewhere"
    }

    /// The components of a path, its links followed as far as it exists.
    private static func resolved(_ path: String) -> [String] {
        var url = URL(fileURLWithPath: path).standardizedFileURL
        var missing: [String] = []
        while !FileManager.default.fileExists(atPath: url.path), url.path != "/" {
            missing.insert(url.lastPathComponent, at: 0)
            url.deleteLastPathComponent()
        }
        return url.resolvingSymlinksInPath().pathComponents + missing
    }
}
