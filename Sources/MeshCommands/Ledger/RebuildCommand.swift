import ArgumentParser
import MeshViews
import Projections

struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Fold the log into views again, beside the ones that answer meanwhile.",
        discussion: """
            Views whose code, options or channel keys changed are rebuilt by themselves; this does it in any case.

              meshledger rebuild
              meshledger rebuild positions messages
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: ArgumentHelp("The views; all when none is named.", valueName: "view")) var views: [String] = []

    func run() async throws {
        try await ledger.writing { ledger in
            let bar = ProgressBar("rebuilding")
            try await ledger.rebuild(views.isEmpty ? nil : views) { progress in
                bar.show(fraction: progress.fraction, done: progress.position - progress.start, unit: "events")
            }
            bar.end()
            let output = StandardOutput()
            for view in try await ledger.reading({ try await $0.views() }) where views.isEmpty || views.contains(view.name) {
                output.line("\(view.name): \(view.rows[view.name] ?? 0) rows from \(view.checkpoint) events")
            }
        }
    }
}
