import ArgumentParser
import MeshLedger
import MeshTables
import Projections

struct ViewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "view", abstract: "Rows, state and schema of views; rebuild them.",
        discussion: """
              meshledger view
              meshledger view nodes --where 'last_heard>=yesterday' --sort last_heard --reverse
              meshledger view rebuild positions
            """,
        subcommands: [
            ViewRowsCommand.self, ViewListCommand.self, ViewDigestCommand.self, RebuildCommand.self, QuarantineCommand.self,
            SchemaCommand.self,
        ],
        defaultSubcommand: ViewRowsCommand.self)
}

struct ViewListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "The state of each view.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ledger.reading(past) { try await Self.write($0, output) }
    }

    static func write(_ ledger: Ledger, _ output: OutputOptions) async throws {
        let writer = try output.writer([
            Column<ViewStatus>("view") { .text($0.name) },
            Column<ViewStatus>("rows") { .unsigned(UInt64($0.rows[$0.name] ?? 0)) },
            Column<ViewStatus>("checkpoint") { .unsigned($0.checkpoint) },
            Column<ViewStatus>("quarantined") { .unsigned($0.quarantined) },
            Column<ViewStatus>("bytes") { .unsigned(UInt64($0.size)) },
            Column<ViewStatus>("recipe", canCut: true) { .optional($0.servedRecipe ?? "") },
            Column<ViewStatus>("stale") { .bool($0.isStale) },
            Column<ViewStatus>("older_rows", isDetail: true) { view in
                .optional(view.origins.origins.map { "up to \($0.through) by \($0.recipe)" }.joined(separator: ", "))
            },
            Column<ViewStatus>("lacks_events_to", isDetail: true) { $0.lost == 0 ? .null : .unsigned($0.lost) },
        ])
        for view in try await ledger.maintenance.views() { writer.write(view) }
        writer.finish()
    }
}

struct ViewDigestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "digest", abstract: "A hash of each view's checkpoint and rows, equal after any rebuild of the same log.",
        discussion: """
              meshledger view digest
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @Argument(help: "The views; by default all.", completion: .list(Ledger.viewNames)) var views: [String] = []

    struct Digest {
        var view: String
        var digest: String
    }

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let writer = try output.writer([
                Column<Digest>("view") { .text($0.view) }, Column<Digest>("digest") { .text($0.digest) },
            ])
            let known = try await ledger.maintenance.views().map(\.name)
            let names = try views.isEmpty ? known : views.map { try KnownName.find($0, "view", among: known) }
            for name in names { writer.write(Digest(view: name, digest: try ledger.maintenance.digest(of: name))) }
            writer.finish()
        }
    }
}

struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Events that a view could not fold, and why. They stay in the log.",
        discussion: """
              meshledger view quarantine
              meshledger packets show 42
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only of this view.", completion: .list(Ledger.viewNames)) var view: String?

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let names = try await ledger.maintenance.views().map(\.name)
            let view = try view.map { try KnownName.find($0, "view", among: names) }
            let writer = try output.writer(ledger.columns(QuarantineRow.self))
            for row in try ledger.maintenance.quarantine(view: view, limit: page.limit ?? .max, offset: page.offset) {
                writer.write(row)
            }
            writer.finish(emptyNote: "nothing in quarantine")
        }
    }
}
