import ArgumentParser
import EventLog
import Foundation
import MeshLedger
import Projections

/// Which ledger to open, and how a command opens it.
struct LedgerOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The ledger's folder; else $MESHLEDGER, else meshledger/mesh.ledger in the XDG data folder.", valueName: "folder"),
        completion: .directory)
    var ledger: String?

    func validate() throws {
        if ledger == "" { throw ValidationError("--ledger names no folder; leave it out for the usual ledger") }
    }

    var path: String { Self.path(ledger, ProcessInfo.processInfo.environment) }

    static func path(_ option: String?, _ environment: [String: String]) -> String {
        if let chosen = option ?? environment["MESHLEDGER"], !chosen.isEmpty { return chosen }
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (data ?? (environment["HOME"] ?? ".") + "/.local/share") + "/meshledger/mesh.ledger"
    }

    /// Opens it for writing by this process alone. A short command may hold it at the moment, so a held ledger is retried for some seconds; after the
    /// first second, a message says so.
    func openForWriting(patience: Duration = .seconds(3), options: LedgerOptions = CustomViews.options()) async throws -> Ledger {
        try await patiently(patience) { () async throws(LedgerError) in try await Ledger.open(at: path, options: options) }
    }

    private func patiently<Result: Sendable>(
        _ patience: Duration, _ open: () async throws(LedgerError) -> Result
    ) async throws -> Result {
        let start = ContinuousClock.now
        var isTold = false
        while true {
            do {
                return try await open()
            } catch {
                let waited = ContinuousClock.now - start
                guard error.code == .locked, waited < patience else { throw withAdvice(error) }
                if !isTold, waited > .seconds(1) {
                    let writer = error.holder.map { "process \($0) has it open for writing" }
                    let reason = writer ?? (error.underlying as? EventLogError)?.detail ?? "another process has it open"
                    StandardOutput.error(
                        "meshledger: \(path): \(reason); waiting up to \(patience.components.seconds) s for its end")
                    isTold = true
                }
                try await Task.sleep(for: .milliseconds(150))
            }
        }
    }

    /// Opens it to compare views with a rebuild: for writing if no other process does.
    /// - Parameter held: views that are not rebuilt automatically.
    func openForComparing(holding held: Set<String>) async throws -> Ledger {
        do {
            var options = CustomViews.options(access: .automatic)
            options.heldViews = held
            return try await Ledger.open(at: path, options: options)
        } catch {
            throw withAdvice(error)
        }
    }

    /// Opens the log alone, for reading.
    func openLogForReading() throws -> EventLog {
        do {
            return try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        } catch {
            throw withAdvice(LedgerError(error))
        }
    }

    /// Opens it for reading, with up-to-date views if this process may update them.
    /// - Parameter keepsPast: whether to keep queried earlier states for the next query.
    func openForReading(keepsPast: Bool = false) async throws -> Ledger {
        do {
            var options = CustomViews.options(access: .readOnly)
            options.keepsPast = keepsPast
            let reader = try await Ledger.open(at: path, options: options)
            if try reader.maintenance.areViewsCurrent() { return reader }
            try await reader.close()
            return try await openUpToDate()
        } catch let error as LedgerError {
            // Views are built from events: a damaged or missing one is rebuilt, and commands that do not read it need not wait.
            guard error.isOfView(in: path) || error.code == .beingBuilt || error.code == .notBuilt else {
                throw withAdvice(error)
            }
            return try await openUpToDate()
        }
    }

    /// On a full disk the views cannot be updated, but their current rows can be read.
    private func openUpToDate() async throws -> Ledger {
        var writer: Ledger?
        do {
            let ledger = try await Ledger.open(at: path, options: CustomViews.options(access: .automatic))
            writer = ledger
            if !ledger.isReadOnly { try await ledger.catchUp(title: "bringing the views up to date") }
            return ledger
        } catch let error as LedgerError {
            try? await writer?.close()  // it fails for the same reason, which is reported
            guard error.code == .full else { throw error }
            StandardOutput.error("meshledger: \(error.description); the answer is of the views as they were before")
            return try await Ledger.open(at: path, options: CustomViews.options(access: .readOnly))
        }
    }

    /// Runs work on its path without opening it.
    func advising<Result>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch let error as LedgerError {
            throw withAdvice(error)
        }
    }

    private func withAdvice(_ error: LedgerError) -> any Error {
        // Otherwise something in it is missing, which the error names.
        guard error.code == .missing, !FileManager.default.fileExists(atPath: path + "/log/current") else { return error }
        if FileManager.default.fileExists(atPath: path + "/log") { return error }
        if FileManager.default.fileExists(atPath: path) {
            let entries = try? FileManager.default.contentsOfDirectory(atPath: path)  // not a folder: reported below
            // An empty folder may become one.
            guard let entries, entries.isEmpty else {
                let what = entries == nil ? "a file" : "a folder with other things in it"
                return CommandError(
                    .noInput, "\(path) is not a ledger but \(what); name a ledger's folder with --ledger or $MESHLEDGER")
            }
        }
        let make = path == Self.path(nil, ProcessInfo.processInfo.environment) ? "" : " \(path.quotedForShell)"
        return CommandError(
            .noInput,
            "there is no ledger at \(path); make one with `meshledger init\(make)`, or name one with --ledger or $MESHLEDGER")
    }

    /// Runs a command's work on a ledger opened for reading, and closes it.
    ///
    /// A view that is being rebuilt, as an erasure does, is waited for a while, and the process that writes is asked for one that is missing: the work
    /// begins again if it has not printed anything.
    func reading(_ body: (Ledger) async throws -> Void) async throws {
        let end = ContinuousClock.now + .seconds(5)
        var hasAsked = false
        while true {
            do {
                return try await using(openForReading(), body)
            } catch let error as LedgerError where error.code == .beingBuilt {
                guard ContinuousClock.now < end, !StandardOutput.hasWrittenAny else { throw error }
                try await Task.sleep(for: .milliseconds(100))
            } catch let error as LedgerError where error.code == .notBuilt {
                guard !hasAsked, !StandardOutput.hasWrittenAny, await isCaughtUp() else { throw error }
                hasAsked = true
            }
        }
    }

    /// Whether the process that writes has made all views, where this one may ask it.
    private func isCaughtUp() async -> Bool {
        do {
            try await writing { try await $0.catchUp() }
            return true
        } catch {
            return false
        }
    }

    /// The same for work that may take long, with a notice on a terminal.
    func reading(saying title: String, _ body: (Ledger) async throws -> Void) async throws {
        try await WaitingLine.during(title) { try await reading(body) }
    }

    /// Runs a command's work on a ledger that this process writes to, or through the process that already does.
    func writing(holding held: Set<String> = [], _ body: (LedgerWriter) async throws -> Void) async throws {
        let writer = try await openWriter(holding: held)
        do {
            try await body(writer)
        } catch {
            try? await writer.close()  // the first failure is the one to report
            throw error
        }
        try await writer.close()
    }

    /// - Parameters:
    ///   - held: views that are not rebuilt automatically if this process opens it.
    ///   - patience: how long to retry a ledger that another process holds without accepting requests.
    func openWriter(holding held: Set<String> = [], patience: Duration = .zero) async throws -> LedgerWriter {
        var options = CustomViews.options()
        options.heldViews = held
        return try await patiently(patience) { () async throws(LedgerError) in
            try await LedgerWriter.open(at: path, options: options)
        }
    }

    func using(_ ledger: Ledger, _ body: (Ledger) async throws -> Void) async throws {
        do {
            try await body(ledger)
        } catch {
            try? await ledger.close()  // the first failure is the one to report
            throw error
        }
        try await ledger.close()
    }
}

extension Ledger {
    func catchUp(title: String) async throws {
        try await showing(title) { try await catchUp(progress: $0) }
    }
}

extension LedgerWriter {
    /// Reads what a decision is about; a view that is missing, or being built, is waited for.
    func readingBuilt<Result>(_ body: (Ledger) async throws -> Result) async throws -> Result {
        do {
            return try await reading(body)
        } catch let error as LedgerError where error.code == .beingBuilt || error.code == .notBuilt {
            try await catchUp(title: "bringing the views up to date")
            return try await reading(body)
        }
    }

    func catchUp(title: String) async throws {
        try await showing(title) { try await catchUp(progress: $0) }
    }
}

/// Shows the progress of views while they catch up.
private func showing(
    _ title: String, _ catchUp: (@escaping @Sendable (FoldProgress) -> Void) async throws -> Void
) async throws {
    let bar = ProgressBar(title)
    defer { bar.end() }
    try await catchUp { progress in
        bar.show(fraction: progress.fraction, done: progress.position - progress.start, unit: "events")
    }
}

extension LedgerError {
    /// Whether a view of the ledger is damaged or missing, not its log.
    func isOfView(in ledger: String) -> Bool { [.corrupt, .missing].contains(code) && path.hasPrefix(ledger + "/views/") }
}
