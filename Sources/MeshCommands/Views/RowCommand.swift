import ArgumentParser
import EventLog
import MeshLedger
import ViewQuery

struct RowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "row", abstract: "Hide rows of any view, and let rows refer to others.",
        discussion: """
            This writes an event to the log that names the rows: a replay hides the same ones, and `meshledger revert` undoes it. `meshledger view VIEW
            --archived` shows archived rows, and `meshledger view archived` lists them with their kept values.

              meshledger row archive positions --where 'node=!19025c00' --where 'time<2026-01-01' --keep latitude,longitude
              meshledger row archive nodes --where 'number=!19025c00' --cascade positions --deny sentMessages
              meshledger row restore positions --where 'node=!19025c00'
              meshledger row refer nodes --where 'number=!19025c00' --relation guards --to waypoints --to-where 'id=5'
              meshledger view references
            """,
        subcommands: [RowArchiveCommand.self, RowRestoreCommand.self, RowReferCommand.self])
}

/// The rows of a view that a command decides about.
struct DecidedRows: ParsableArguments {
    @OptionGroup var ledger: LedgerOption
    @OptionGroup var selection: RowSelection
    @Argument(help: "The view.", completion: NameCompletion.views) var view: String
    @Flag(help: "All rows of the view.") var all = false

    func validate() throws {
        guard selection.isEmpty == all else {
            throw ValidationError("say which rows: --where, --having, --lacking, or --all")
        }
    }

    static func rows(of view: String, in ledger: Ledger) throws -> any QueryRow.Type {
        let name = try KnownName.find(view, "view", among: ledger.rowNames)
        guard let rows = ledger.rows(of: name) else {
            throw CommandError(.noInput, "there are no rows of \(name)")
        }
        return rows
    }

    /// Records decisions about the rows.
    func decide(_ annotations: @Sendable (Ledger, any QueryRow.Type) throws -> [Annotation]) async throws {
        try await ledger.writing { ledger in
            try await ledger.catchUp(title: "bringing the views up to date")
            let all = try await ledger.reading { ledger in try annotations(ledger, Self.rows(of: view, in: ledger)) }
            guard !all.isEmpty else { return StandardOutput().line("no such rows") }
            AnnotationReport.write(all, try await ledger.annotate(all))
        }
    }
}

struct RowArchiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive", abstract: "Hide rows until they are restored.",
        discussion: """
            Relations are those of the view: for nodes positions, telemetry, sentMessages and receivedMessages; and those that `row refer` made. Rows that differ only in an event's sequence are
            archived together.

              meshledger row archive links --where 'count=1'
              meshledger row archive nodes --where 'number=!19025c00' --cascade positions --cascade telemetry
            """)

    @OptionGroup var rows: DecidedRows
    @Option(help: ArgumentHelp("Archive the rows of this relation, too.", valueName: "relation")) var cascade: [String] = []
    @Option(help: ArgumentHelp("Archive nothing as long as rows of this relation exist.", valueName: "relation"))
    var deny: [String] = []
    @Option(help: ArgumentHelp("Remove the references by this relation, which people made.", valueName: "relation"))
    var nullify: [String] = []
    @Option(
        help: ArgumentHelp(
            "Columns whose values are kept in the event; nodes and messages stay in their views with all values.",
            valueName: "names"))
    var keep: String?

    func run() async throws {
        let kept = keep.map { $0.split(separator: ",").map(String.init) } ?? []
        let rules = cascade.map { ($0, DeleteRule.cascade) } + deny.map { ($0, .deny) } + nullify.map { ($0, .nullify) }
        try await rows.decide { ledger, type in try archival(type, ledger, kept, rules) }
    }

    private func archival<Row: QueryRow>(
        _ type: Row.Type, _ ledger: Ledger, _ kept: [String], _ rules: [(String, DeleteRule)]
    ) throws -> [Annotation] {
        let columns = try kept.map { try RowSelection.column($0, of: type).name }
        let found = try rows.selection.rows(type, in: ledger, archived: false)
        return try ledger.annotations.archival(
            of: found, rules: rules.flatMap { try ledger.rules($0.1, $0.0, on: type) }, keeping: columns)
    }
}

struct RowRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "List archived rows again.")

    @OptionGroup var rows: DecidedRows

    func run() async throws {
        try await rows.decide { ledger, type in
            func restoral<Row: QueryRow>(_ type: Row.Type) throws -> [Annotation] {
                try ledger.annotations.restoral(of: rows.selection.rows(type, in: ledger, archived: true))
            }
            return try restoral(type)
        }
    }
}

struct RowReferCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refer", abstract: "Let rows refer to others by a custom relation.",
        discussion: """
            The rows refer to these by the relation and to no others; with --add also to these; with --detach no longer to these, or to none if
            --to-where is not given. `meshledger view references` lists references.

              meshledger row refer nodes --where 'number=!19025c00' --relation guards --to waypoints --to-where 'id=5'
              meshledger row refer nodes --where 'number=!19025c00' --relation guards --to waypoints --detach
            """)

    @OptionGroup var rows: DecidedRows
    @Option(help: "The relation's name.") var relation: String
    @Option(help: ArgumentHelp("The view of the rows that are referred to.", valueName: "view")) var to: String
    @Option(help: ArgumentHelp("Which of its rows, as --where.", valueName: "column=value"), transform: RowCondition.parsed)
    var toWhere: [RowCondition] = []
    @Flag(help: "Add to the existing references.") var add = false
    @Flag(help: "Remove the references.") var detach = false

    func validate() throws {
        if add && detach { throw ValidationError("--add and --detach exclude each other") }
        if !detach && toWhere.isEmpty { throw ValidationError("say which rows are referred to: --to-where") }
    }

    func run() async throws {
        try await rows.decide { ledger, type in
            func others<Parent: QueryRow, Child: QueryRow>(_ parent: Parent.Type, _ child: Child.Type) throws -> [Annotation] {
                let parents = try rows.selection.rows(parent, in: ledger, archived: false)
                guard !parents.isEmpty else { return [] }
                let children = toWhere.isEmpty ? [] : try RowSelection(toWhere).rows(child, in: ledger, archived: false)
                guard detach || !children.isEmpty else { throw CommandError(.noInput, "there are no such rows of \(to)") }
                return try ledger.annotations.references(
                    Relation<Parent, Child>(made: relation), detach ? .detach : add ? .append : .set, parents, children)
            }
            return try others(type, DecidedRows.rows(of: to, in: ledger))
        }
    }
}
