import ArgumentParser
import EventLog
import Foundation
import MeshLedger
import Synchronization

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check every record of the log, and the views.",
        discussion: """
            Reads all records, compares their checksums, looks for gaps, and recomputes the Merkle tree. With the note of an older
            checkpoint it proves that the log extends the older log: nothing of it was changed, removed or inserted. That holds against an attacker who
            can write the ledger's files only with --key, the public key that was kept elsewhere: without it, the key beside the log is trusted. Ends with
            status 1 when something is damaged or was rewritten.

            A separate process does the reading: if a damaged file crashes it, that is reported as damage, with the events that are lost.

              meshledger verify
              meshledger verify --checkpoint monday.note --key ledger.key
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(help: ArgumentHelp("The note of an older checkpoint.", valueName: "file"), completion: .file()) var checkpoint:
        String?
    @Option(
        help: ArgumentHelp("The public key that signed it, or a file that holds it; else the ledger's own.", valueName: "key"),
        completion: .file())
    var key: String?
    @Flag(help: .hidden) var inThisProcess = false

    func validate() throws {
        if key != nil && checkpoint == nil { throw ValidationError("--key goes with --checkpoint") }
    }

    func run() async throws {
        if inThisProcess {
            GuardedChild.endWithParent()
            return try await runChecks()
        }
        let bar = ProgressBar("verifying")
        let stage = Mutex(VerifyNews.log)
        let child = try GuardedChild.run(arguments) { line in
            guard let news = VerifyNews(line) else { return }
            if case .progress(let done, let total) = news {
                bar.show(fraction: Double(done) / Double(max(total, 1)), done: done, unit: "events")
            } else {
                stage.withLock { $0 = news }
            }
        }
        bar.end()
        switch child.end {
        case .exited(let status):
            StandardOutput.rawError(child.errors)
            let output = StandardOutput()
            output.write(child.output)
            output.flush()
            if stage.withLock({ $0 == .corrupt }) { try reportLosses() }
            if status != 0 { throw ExitCode(status) }
        case .crashed(let signal):
            try report("reading \(stage.withLock { $0.subject }) crashed (signal \(signal))", stage.withLock { $0 })
        case .ended(let signal):
            throw CommandError(
                .inputOutput,
                "\(ledger.path): the check was ended by signal \(signal)\(signal == SIGKILL ? ", perhaps for lack of memory" : ""): nothing is "
                    + "known of the rest; run it again")
        case .hung:
            try report("reading \(stage.withLock { $0.subject }) did not come to an end and was stopped", stage.withLock { $0 })
        }
    }

    private var arguments: [String] {
        var arguments = ["verify", "--in-this-process", "--ledger", ledger.path]
        if let checkpoint { arguments += ["--checkpoint", checkpoint] }
        if let key { arguments += ["--key", key] }
        return arguments
    }

    private func report(_ what: String, _ stage: VerifyNews) throws {
        guard stage != .views else {
            throw CommandError(.verificationFailed, Self.viewsDamaged(ledger.path, what))
        }
        StandardOutput.error("meshledger: \(ledger.path): \(what): the log is damaged")
        try reportLosses()
    }

    private static func viewsDamaged(_ path: String, _ what: String) -> String {
        "\(path): \(what): no event is damaged, but the views are; rebuild them with `meshledger view rebuild`"
    }

    /// Lists the losses, which it finds without the store, and what to do.
    private func reportLosses() throws -> Never {
        let output = StandardOutput()
        SalvageCommand.report(try EventLog.survey(ledger.path), output)
        output.flush()
        StandardOutput.error(
            "meshledger: restore it from a copy, or copy what is left with `meshledger salvage \(ledger.path) NEW`")
        throw ExitCode(ExitStatus.verificationFailed.rawValue)
    }
}

/// What a verifying child reports to its parent.
enum VerifyNews: Equatable {
    case progress(done: UInt64, total: UInt64)
    /// It is reading the log.
    case log
    /// It has checked the log and is reading the views.
    case views
    /// The log cannot even be opened.
    case corrupt

    init?(_ line: String) {
        let words = line.split(separator: " ")
        switch words.first {
        case "log": self = .log
        case "views": self = .views
        case "corrupt": self = .corrupt
        case "events":
            guard words.count == 3, let done = UInt64(words[1]), let total = UInt64(words[2]) else { return nil }
            self = .progress(done: done, total: total)
        default: return nil
        }
    }

    var line: String {
        switch self {
        case .progress(let done, let total): "events \(done) \(total)"
        case .log: "log"
        case .views: "views"
        case .corrupt: "corrupt"
        }
    }

    var subject: String { self == .views ? "the views" : "the log" }
}

extension VerifyCommand {
    /// The checks themselves, in the child.
    private func runChecks() async throws {
        GuardedChild.report(VerifyNews.log.line)
        do {
            let (result, baselines) = try await checkLog()
            GuardedChild.report(VerifyNews.views.line)
            let (problemsOfViews, unreadable) = try await problemsOfViews()
            let problems = baselines + problemsOfSettings() + problemsOfViews
            for problem in problems { StandardOutput.error(problem) }
            if !result.isIntact || !problems.isEmpty { throw ExitCode(ExitStatus.verificationFailed.rawValue) }
            if let unreadable { throw unreadable }
        } catch {
            if let error = error as? LedgerError, error.isOfView(in: ledger.path) {
                throw CommandError(.verificationFailed, Self.viewsDamaged(ledger.path, "\(error.path) cannot be used"))
            }
            let isCorrupt =
                (error as? EventLogError)?.code == .corrupt || (error as? LedgerError)?.code == .corrupt
            if isCorrupt { GuardedChild.report(VerifyNews.corrupt.line) }
            throw error
        }
    }

    private func problemsOfSettings() -> [String] {
        var problems: [String] = []
        do throws(LedgerError) {
            _ = try SizeLimit.load(from: ledger.path)
        } catch {
            problems.append(error.description)
        }
        do throws(LedgerError) {
            _ = try RetentionPolicy.load(from: ledger.path)
        } catch {
            problems.append(error.description)
        }
        return problems
    }

    /// Views that are not built have no events to check.
    /// - Returns: also why the keys could not be read, if that says nothing of their content.
    private func problemsOfViews() async throws -> (problems: [String], unreadable: LedgerError?) {
        do throws(LedgerError) {
            var options = CustomViews.options(access: .readOnly)
            options.toleratesBrokenKeys = true
            let ledger = try await Ledger.open(at: ledger.path, options: options)
            let holdErased = try ledger.maintenance.viewsHoldErasedForGood()
            var problems = try ledger.maintenance.viewsBeyondLog().map {
                "the view \($0) has seen events that the log does not hold"
            }
            if holdErased {
                problems.append(
                    "the views were built before the last erasure and contain what was erased; `meshledger view rebuild` builds them again"
                )
            }
            try await ledger.close()
            guard let keys = ledger.keys.problem else { return (problems, nil) }
            let saysNothing = [.permission, .storage].contains(keys.code)
            if !saysNothing { problems.append("\(keys); the rest was checked without keys") }
            return (problems, saysNothing ? keys : nil)
        } catch {
            guard error.code == .notBuilt || error.code == .beingBuilt else { throw error }
            return ([], nil)
        }
    }

    private func checkLog() async throws -> (LogVerification, problemsOfBaselines: [String]) {
        let old = try await oldCheckpoint()
        let log = try ledger.openLogForReading()
        let result = try log.verify(extending: old?.checkpoint, signedBy: old?.verifier) { progress in
            GuardedChild.report(VerifyNews.progress(done: UInt64(progress.checked), total: UInt64(progress.total)).line)
            return true
        }
        var baselines: [String] = []
        do throws(LedgerError) {
            baselines = try Ledger.Maintenance.problemsOfBaselines(log)
        } catch {
            guard error.code == .corrupt else { throw error }  // the event of the cut is damaged, which is reported above
        }
        await log.close()
        for problem in result.problems { StandardOutput.error(problem.description) }
        let output = StandardOutput()
        output.line(
            "\(result.eventsChecked.counted("event")) with \(result.payloadBytes.counted("byte")) checked, \(result.problemCount.grouped) damaged"
        )
        if result.eventsDropped > 0 {
            output.line("events 1 to \(result.eventsDropped) were dropped by retention; their hashes were checked")
        }
        if let old, result.isIntact {
            output.line("today's log extends the checkpoint of \(old.checkpoint.size.counted("event"))")
        }
        if old != nil, key == nil {
            output.line(
                "the note was checked with the key beside the log, which anyone with write access to its files can replace; --key "
                    + "names one that was kept elsewhere")
        }
        output.flush()
        return (result, baselines)
    }

    private func oldCheckpoint() async throws -> (checkpoint: LogCheckpoint, verifier: NoteVerifier)? {
        guard let checkpoint else { return nil }
        let note = try NoteFile.note(checkpoint)
        guard let old = LogCheckpoint(note) else { throw CommandError(.badData, "\(checkpoint) is not a checkpoint of a ledger") }
        let verifier = if let key { try NoteFile.verifier(key) } else { try await ownVerifier(origin: old.origin) }
        guard note.isSigned(by: verifier) else {
            throw CommandError(
                .verificationFailed,
                "\(checkpoint) is not signed by \(key == nil ? "the key of this ledger" : "this key"); see whose note it is")
        }
        return (old, verifier)
    }

    private func ownVerifier(origin: String) async throws -> NoteVerifier {
        let log = try ledger.openLogForReading()
        let verifier = try log.verifier(origin: origin)
        await log.close()
        return verifier
    }
}
