import ArgumentParser
import EventLog
import MeshLedger
import MeshTables

struct LakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lake", abstract: "Keep Delta tables for DuckDB, polars, Spark, pandas.",
        discussion: """
            Each view is a table, and so are events, packets and receptions: Parquet files by day (`positions/day=2026-11-24/`) and a Delta log, which engines read as one table, with its history. Run again, it
            writes only the days that have changed: new rows, rows that a late key opened, erased ones. After an erasure, all files of earlier versions go.
            A killed run leaves every table in its old or new state. manifest.json ties each file to events, tree root, recipe and SHA-256.

              meshledger lake write lake
              meshledger lake write lake --follow
              meshledger lake write public-lake --precision 1km --table positions
              meshledger lake verify lake
            """,
        subcommands: [LakeWriteCommand.self, LakeVerifyCommand.self], defaultSubcommand: LakeWriteCommand.self)
}

struct LakeWriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write", abstract: "Bring a lake up to date, or begin one.",
        discussion: """
            With --follow it keeps running while other processes write to the ledger, and updates the lake regularly until SIGINT or SIGTERM, which ends it after the
            current table.

              meshledger lake write lake
              meshledger lake write lake --follow --every 300
              meshledger lake write lake --table positions --table messages --keep 1
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(
        help: ArgumentHelp(
            "The finest precision of places in a new lake, which it keeps: bits such as 14, or a distance such as 500m or 1km.",
            valueName: "bits"))
    var precision: PrecisionArgument?
    @Option(
        help: ArgumentHelp(
            "Only this table, in this run; may be given several times. A run that names none writes all.", valueName: "name"),
        completion: NameCompletion.lakeTables
    )
    var table: [String] = []
    @Option(help: ArgumentHelp("How many days files of earlier versions are kept.", valueName: "days")) var keep = 7
    @Flag(help: "Keep running, and write what is new.") var follow = false
    @Option(
        help: ArgumentHelp("With --follow: how many seconds from one run to the next, by default 60.", valueName: "seconds"))
    var every: Int?
    @Argument(help: "The lake's folder.", completion: .directory) var folder: String

    func validate() throws {
        if !(0...36_500).contains(keep) { throw ValidationError("--keep is a number of days") }
        if every != nil, !follow { throw ValidationError("--every goes with --follow") }
        if !(1...86_400).contains(every ?? 60) { throw ValidationError("--every is a number of seconds, up to a day") }
    }

    func run() async throws {
        guard follow else { return try await update() }
        let every = every ?? 60
        _ = try await StopSignals.cancelling {
            while !Task.isCancelled {
                do {
                    try await update()
                } catch let error as LedgerError where [.locked, .beingBuilt, .notBuilt].contains(error.code) {
                    StandardOutput.error("meshledger: \(error.description); the next run is in \(every) s")
                }
                try? await Task.sleep(for: .seconds(every))  // a signal ends it early
            }
        }
    }

    private func update() async throws {
        try OutputFiles.refuseLedgers(folder + "/_delta_log")
        try await ledger.reading(saying: "writing the lake") { ledger in
            var options = Lake.Options()
            options.precision = precision?.precision
            options.keptSeconds = Int64(keep) * 86_400
            if !table.isEmpty {
                let names = try LakeTableNames.all(in: ledger)
                options.tables = Set(try table.map { try KnownName.find(Lake.name(of: $0), "table", among: names) })
            }
            let recipes = try await ledger.maintenance.views().reduce(into: [:]) {
                $0[$1.name] = $1.servedRecipe ?? $1.wantedRecipe
            }
            let report = try Lake(folder).update(from: ledger, recipes: recipes, options) { Task.isCancelled }
            let output = StandardOutput()
            if follow, report.changes.isEmpty, report.removedFiles == 0, report.restored.isEmpty { return }
            for table in report.restored { output.line("\(table): its Delta log was changed by others, and is made again") }
            for change in report.changes {
                let days = change.written + change.removed
                let listed = days.count > 5 ? "\(days.count) days" : days.isEmpty ? "no day" : days.joined(separator: " ")
                output.line("\(change.table): version \(change.version), \(change.rows.counted("row")) of \(listed)")
            }
            for table in report.moving {
                output.line("\(table) changed while it was read: the next run brings it up to date")
            }
            if report.removedFiles > 0 {
                output.line(
                    "\(report.removedFiles.counted("file of earlier versions is", "files of earlier versions are")) removed")
            }
            let places = report.precision.map { ", with places of \($0.bits) bits" } ?? ""
            let folder = DisplayWidth.safe(folder)
            if table.isEmpty || report.erased.isEmpty && report.older.isEmpty {
                output.line("\(folder) is the ledger up to event \(report.head)\(places)")
            } else {
                output.line("\(folder) has \(table.joined(separator: ", ")) up to event \(report.head)\(places)")
            }
            output.flush()
            warn(of: report)
        }
    }

    /// Names the tables that are not as the ledger is.
    private func warn(of report: Lake.Report) {
        let rest = "`meshledger lake write`" + (table.isEmpty ? " again" : " without --table")
        if !report.erased.isEmpty {
            let names = report.erased.joined(separator: ", ")
            StandardOutput.error("meshledger: what was erased may still be in \(names); run \(rest)")
        } else if !report.older.isEmpty, !follow {
            StandardOutput.error("(older: \(report.older.joined(separator: ", ")); \(rest) brings all up to date)")
        }
    }
}

/// Only collects the names.
private struct LakeTableNames: LakeVisitor {
    private var names: [String] = []

    mutating func visit<Row>(_ table: LakeTable<Row>) { names.append(table.name) }

    static func all(in ledger: Ledger) throws -> [String] {
        var names = LakeTableNames()
        try LakeTables(ledger).visit(&names)
        return names.names
    }
}

extension NameCompletion {
    fileprivate static let lakeTables = CompletionKind.custom { words, _, _ in
        await names(words) { try LakeTableNames.all(in: $0) }
    }
}

struct LakeVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compare a lake with the ledger, file by file and row by row.",
        discussion: """
            It reads every row in the Parquet files, and compares them and all of manifest.json with the ledger as it was when the lake was written. It also names files that do not belong to the lake.

              meshledger lake verify lake
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The lake's folder.", completion: .directory) var folder: String

    func run() async throws {
        try await ledger.reading(saying: "comparing") { ledger in
            let (lake, output) = (Lake(folder), StandardOutput())
            var (verification, comparisons) = (try await compare(lake, with: ledger, output), 1)
            // A run of another process may have removed files meanwhile.
            while !verification.problems.isEmpty, comparisons < 6, try !lake.isAsVerified(verification) {
                (verification, comparisons) = (try await compare(lake, with: ledger, output), comparisons + 1)
            }
            for note in verification.notes { output.line(DisplayWidth.safe(note)) }
            if let last = verification.droppedRoots.max() {
                output.line(
                    "retention has dropped what the roots of the tree up to event \(last) need: files of then are compared with the manifest and by their rows"
                )
            }
            for problem in verification.problems { output.line(DisplayWidth.safe(problem)) }
            output.line("\(verification.files.counted("file")) and \(verification.rows.counted("row")) compared")
            output.flush()
            guard verification.problems.isEmpty else {
                if try !lake.isAsVerified(verification) {
                    throw CommandError(
                        .locked, "\(folder) was written while it was compared, \(comparisons) times; verify it when no run does")
                }
                throw CommandError(
                    .verificationFailed,
                    "\(folder) differs from the ledger; where the lines above do not say what to do, `meshledger lake write` with another folder "
                        + "creates a new lake")
            }
        }
    }

    private func compare(_ lake: Lake, with ledger: Ledger, _ output: StandardOutput) async throws -> LakeVerification {
        let recipes = try await ledger.maintenance.views().reduce(into: [:]) { $0[$1.name] = $1.servedRecipe ?? $1.wantedRecipe }
        var verification = try lake.verifyFiles(against: ledger)
        let head = ledger.log.head.rawValue
        for end in verification.heads {
            // The views of a ledger that another process writes to may be behind the log, and go on.
            guard end < head || ledger.isReadOnly else {
                try lake.verifyRows(at: end, against: ledger, recipes: recipes, &verification)
                continue
            }
            let first = ledger.log.first.rawValue
            guard end + 1 >= first else {
                verification.problems.append(
                    "retention dropped events up to \(first - 1) since the tables up to event \(end) were written: their rows cannot be compared; run `meshledger lake write`"
                )
                continue
            }
            if end < head { output.line("tables up to event \(end) are \((head - end).counted("event")) behind") }
            let then = try ledger.asOf(.sequence(end))
            try lake.verifyRows(at: end, against: then, recipes: recipes, &verification)
            try await then.close()
        }
        return verification
    }
}
