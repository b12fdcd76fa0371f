import ArgumentParser
import EventLog
import MeshViews

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check every record of the log, and that the views belong to it.",
        discussion: """
            Reads all records, compares their checksums, and looks for gaps. Ends with status 1 when something is damaged.

              meshledger verify
            """)

    @OptionGroup var ledger: LedgerOption

    func run() async throws {
        let ledger = try await ledger.openForReading()
        let bar = ProgressBar("verifying")
        let result = try ledger.log.verify { progress in
            let total = max(1, progress.total)
            bar.show(fraction: Double(progress.checked) / Double(total), done: UInt64(progress.checked), unit: "events")
            return true
        }
        bar.end()
        let strangers = try ledger.viewsBeyondLog()
        try await ledger.close()
        for problem in result.problems { StandardOutput.error("event \(problem.sequence): \(problem.text)") }
        for view in strangers { StandardOutput.error("the view \(view) has seen events that the log does not hold") }
        let output = StandardOutput()
        output.line("\(result.eventsChecked) events with \(result.payloadBytes) bytes checked, \(result.problemCount) damaged")
        output.flush()
        if !result.isIntact || !strangers.isEmpty { throw ExitCode(ExitStatus.verificationFailed.rawValue) }
    }
}
