import ArgumentParser
import EventLog
import Foundation
import MeshLedger

struct SalvageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage", abstract: "Copy what is intact from a damaged ledger.",
        discussion: """
            Reads the damaged file page by page, without the store, so that no damage can end the program, and does not change it. In the
            new ledger each event keeps its sequence, times, source and bytes; a gap event replaces
            each lost event. The origins of copied events, import cursors, channel keys, baselines, the retention policy and consumers' positions are
            copied. The new ledger has a new identity and signing key:
            checkpoints and proofs of the damaged one do not hold for it. Until it is complete it is called NEW.salvaging.

            Lists the lost sequences. Ends with status 0 if nothing is lost, with 1 if events or views' rows of dropped events are, with 66 or 65 if there is no ledger.

              meshledger salvage damaged.ledger mesh.ledger
              meshledger salvage --dry-run damaged.ledger
            """)

    @Argument(help: "The damaged ledger's folder, or the data file of its log.", completion: .directory) var damaged: String
    @Argument(help: "The new ledger's folder, which does not exist yet.", completion: .directory) var new: String?
    @Flag(help: "Only report what can be saved.") var dryRun = false

    func validate() throws {
        if dryRun != (new == nil) { throw ValidationError("name a new folder, or use --dry-run, which needs none") }
    }

    func run() async throws {
        let bar = ProgressBar("salvaging")
        let (report, left) = try await salvage { progress in
            let isReading = progress.stage == .reading
            bar.show(
                fraction: isReading ? Double(progress.done) / Double(max(progress.total, 1)) : nil, done: UInt64(progress.done),
                unit: isReading ? "bytes" : "events")
        }
        bar.end()
        for text in left { StandardOutput.error(text) }
        let output = StandardOutput()
        Self.report(report, output)
        if let new { output.line("they are in the ledger \(new); its views are built when it is read") }
        output.flush()
        if let new {
            try await reportLostRows(of: new)
        } else if report.dropped > 0 {
            do {
                try await reportLostRows(of: damaged)
            } catch let error where !(error is ExitCode) {
                StandardOutput.error("meshledger: only the copy shows whether the views' rows of dropped events are whole")
            }
        }
        if !report.isComplete { throw ExitCode(ExitStatus.verificationFailed.rawValue) }
    }

    private func salvage(_ progress: (SalvageProgress) -> Void) async throws -> (SalvageReport, left: [String]) {
        guard let new else { return (try EventLog.survey(damaged, progress: progress), []) }
        try makeParent(of: new)
        var left: [String] = []
        let report = try await EventLog.salvage(damaged, to: new, progress: progress) { (unfinished) throws(EventLogError) in
            left = try Self.copyFiles(from: damaged, to: unfinished)
        }
        return (report, left)
    }

    /// Writes losses to standard error line by line, and totals to standard output.
    static func report(_ report: SalvageReport, _ output: StandardOutput) {
        for range in report.missingRanges { StandardOutput.error("\(name(range)) cannot be saved") }
        if report.missingRanges.count == 10_000 { StandardOutput.error("and more") }
        if !report.knowsEnd {
            StandardOutput.error("the file no longer states how many events it had; some may be missing behind the last")
        }
        for source in report.namelessSources { StandardOutput.error("the name of source \(source.rawValue) is lost") }
        if !report.hasAllCursors {
            StandardOutput.error("import cursors are lost: importing a file again may add events that are there already")
        }
        if !report.hasAllOrigins {
            StandardOutput.error(
                "the origins of copied events are lost in part: importing or merging them again may add events that are there already"
            )
        }
        if report.lostOrigins > 0 {
            StandardOutput.error(
                "the salts of \(report.lostOrigins.counted("copied event")) are lost: these count as the new ledger's own, and importing or merging them again adds them again"
            )
        }
        if report.disputed > 0 {
            StandardOutput.error(
                "\(report.disputed.counted("event is", "events are")) there in several forms; the form in use was taken, else the latest"
            )
        }
        if report.unfinished > 0 {
            StandardOutput.error(
                "\(report.unfinished.counted("record of a write that never ended was", "records of a write that never ended were")) left out"
            )
        }
        if report.dropped > 0 { output.line("events 1 to \(report.dropped) were dropped by retention") }
        output.line(
            "\(report.saved.counted("event")) with \(report.payloadBytes.counted("byte")) can be saved, \(report.missing.counted("is", "are")) lost"
        )
    }

    static func name(_ range: ClosedRange<EventSequence>) -> String {
        range.count == 1 ? "event \(range.lowerBound)" : "events \(range.lowerBound) to \(range.upperBound)"
    }

    /// Channel keys, and the views' baselines of dropped events.
    /// - Returns: what cannot be read.
    private static func copyFiles(from damaged: String, to new: String) throws(EventLogError) -> [String] {
        var lines: [String] = []
        for (name, what) in [
            ("keys.json", "the channel keys"), ("baselines", "the views' baselines"), ("retention", "the policy of retention"),
            ("consumers", "the positions of consumers"), ("limit", "the size limit"),
        ] {
            let file = "\(damaged)/\(name)"
            guard (try? FileManager.default.attributesOfItem(atPath: file)) != nil else { continue }  // it does not exist
            for left in try PlainCopy.copy(file, to: "\(new)/\(name)") {
                lines.append("meshledger: of \(what) this cannot be copied: \(DisplayWidth.safe(left))")
            }
        }
        return lines
    }
}
