import ArgumentParser
import MeshLedger
import Projections

struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Fold the log into views again, while the current ones keep answering.",
        discussion: """
            Views whose code, options or channel keys changed are rebuilt automatically; this does it in any case.

            --diff shows what would change, before it does. With --keep the old rows stay; --back lets them answer again, until the view is rebuilt.

            If rows of events that retention has dropped are lost, because their baseline is, it says so and ends with status 1.

              meshledger view rebuild
              meshledger view rebuild positions messages
              meshledger view rebuild nodes --diff
              meshledger view rebuild nodes --keep
              meshledger view rebuild nodes --back
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions
    @Argument(help: ArgumentHelp("The views; by default all.", valueName: "view"), completion: .list(Ledger.viewNames)) var views:
        [String] = []
    @Flag(help: "Only list the rows that would be added (+), removed (-) and changed (~). The views are not changed.") var diff =
        false
    @Flag(help: "Keep the old rows along with the new ones.") var keep = false
    @Flag(help: "Serve the rows that --keep has kept, as they were at the time.") var back = false

    func validate() throws {
        if [diff, keep, back].count(where: { $0 }) > 1 { throw ValidationError("--diff, --keep and --back exclude each other") }
        if back, views.isEmpty { throw ValidationError("name the views that are to go back") }
        if output.format != .table, !diff { throw ValidationError("--format is for --diff") }
    }

    func run() async throws {
        let views = try views.map { try KnownName.find($0, "view", among: CustomViews.names) }
        if diff { return try await compare(views) }
        let names = Set(views.isEmpty ? CustomViews.names : views)
        try await ledger.writing(holding: keep || back ? names : []) { ledger in
            if back {
                try await ledger.goBack(views)
            } else {
                let bar = ProgressBar("rebuilding")
                defer { bar.end() }
                try await ledger.rebuild(views.isEmpty ? nil : views, keepsOld: keep) { bar.show($0) }
            }
            try Self.report(try await ledger.reading { try await $0.maintenance.views() }, views)
        }
        if !back { try await reportLostRows(of: ledger.path, views: names) }
    }

    private static func report(_ all: [ViewStatus], _ views: [String]) throws {
        let output = StandardOutput()
        for view in all where views.isEmpty || views.contains(view.name) {
            output.line("\(view.name): \((view.rows[view.name] ?? 0).counted("row")) from \(view.checkpoint.counted("event"))")
        }
    }

    private func compare(_ views: [String]) async throws {
        let names = views.isEmpty ? CustomViews.names : views
        try await ledger.using(ledger.openForComparing(holding: Set(names))) { ledger in
            let bar = ProgressBar("comparing")
            defer { bar.end() }
            let writer = RowPrinter(try output.writer(DifferentRow.columns))
            for name in names {
                try await ledger.maintenance.compareRebuilt(name, progress: { bar.show($0) }) { difference in
                    bar.end()
                    writer.write(DifferentRow(difference, of: ledger.rows(of: difference.table)))
                    return true
                }
            }
            bar.end()
            writer.finish(emptyNote: "no row would change")
        }
    }
}

extension ProgressBar {
    func show(_ progress: FoldProgress) {
        show(fraction: progress.fraction, done: progress.position - progress.start, unit: "events")
    }
}
