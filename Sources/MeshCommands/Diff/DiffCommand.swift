import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
import ViewQuery

struct DiffCommand: AsyncParsableCommand, ShowsTimes {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "What differs between two ledgers or points in time.",
        discussion: """
            For each view, shows how many rows only the second has (added), only the first has (removed), or both have with different values (changed), and how
            often each column changed. Columns are those of the lists; the events that a row came from are ignored. With one --as-of it compares that time with now.

              meshledger diff old.ledger new.ledger
              meshledger diff --as-of yesterday --as-of today
              meshledger diff --as-of 1d --view nodes --rows
              meshledger diff old.ledger new.ledger --view positions --rows --format jsonl
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions
    @Option(
        help: ArgumentHelp("A point in time, or two if repeated: a time of the mesh, or an event.", valueName: "time|sequence"),
        transform: PointInTimeArgument.parsed)
    var asOf: [PointInTimeArgument] = []
    @Option(help: "Only this view; may be repeated.", completion: NameCompletion.views) var view: [String] = []
    @Flag(help: "The rows themselves: added (+), removed (-) and changed (~).") var rows = false
    @Argument(help: ArgumentHelp("Two ledgers.", valueName: "folder"), completion: .directory) var ledgers: [String] = []

    /// Checked when all is parsed: the value of an unknown option looks like a third ledger.
    private func check() throws {
        guard ledgers.isEmpty ? (1...2).contains(asOf.count) : ledgers.count == 2 && asOf.isEmpty else {
            throw Self.refusal("name two ledgers, or one or two points in time with --as-of")
        }
        if ledgers.count == 2, Set(ledgers.map { URL(fileURLWithPath: $0).standardizedFileURL.path }).count == 1 {
            throw Self.refusal("\(ledgers[0]) is both; --as-of compares two points in time of one ledger")
        }
        if !ledgers.isEmpty, ledger.ledger != nil { throw Self.refusal("--ledger is for --as-of") }
    }

    private static func refusal(_ reason: String) -> CommandError {
        CommandError(.usage, "\(reason); see `meshledger diff --help`")
    }

    func run() async throws {
        try check()
        try await WaitingLine.during("comparing") { try await compare() }
    }

    private func compare() async throws {
        guard ledgers.isEmpty else {
            var (one, other) = (ledger, ledger)
            (one.ledger, other.ledger) = (ledgers[0], ledgers[1])
            return try await one.reading { before in try await other.reading { after in try write(before, after) } }
        }
        try await ledger.using(ledger.openForReading(keepsPast: true)) { now in
            let then = try asOf.map { try $0.opened(in: now) }
            let result = Result { try write(then[0], then.count > 1 ? then[1] : now) }
            for moment in then { try await moment.close() }
            try result.get()
        }
    }

    private func write(_ before: Ledger, _ after: Ledger) throws {
        let tables = try view.map { try before.view(named: $0) }
        let known = (before.rowNames + after.rowNames).withoutRepeats
        let details = rows ? try output.writer(DifferentRow.columns) : nil
        let counts = rows ? nil : try output.writer(ViewDifference.columns)
        for table in tables.isEmpty ? known : tables {
            guard let rows = after.rows(of: table) ?? before.rows(of: table) else {
                throw CommandError(.usage, "the view \(table) is an index without rows of its own")
            }
            var difference = ViewDifference(view: table)
            func compare<Row: QueryRow>(_ rows: Row.Type) throws {
                try RowComparison<Row>(before: before, after: after).run { row in
                    difference.add(row)
                    details?.write(row)
                }
            }
            try compare(rows)
            if difference.count > 0 { counts?.write(difference) }
        }
        details?.finish(emptyNote: "no differences")
        counts?.finish(emptyNote: "no differences")
    }
}

/// How many rows of a view differ.
private struct ViewDifference {
    let view: String
    private var signs: [String: UInt64] = [:]
    private var changes: [String: UInt64] = [:]

    init(view: String) { self.view = view }

    var count: UInt64 { signs.values.reduce(0, +) }

    mutating func add(_ row: DifferentRow) {
        signs[row.sign, default: 0] += 1
        if row.sign == "~" { for column in row.columns { changes[column.name, default: 0] += 1 } }
    }

    private var changed: [(name: String, count: UInt64)] {
        changes.map { ($0.key, $0.value) }.sorted { $0.1 != $1.1 ? $0.1 > $1.1 : $0.0 < $1.0 }
    }

    static var columns: [Column<ViewDifference>] {
        [
            Column("view") { .text($0.view) },
            Column("added") { .unsigned($0.signs["+"] ?? 0) },
            Column("removed") { .unsigned($0.signs["-"] ?? 0) },
            Column("changed") { .unsigned($0.signs["~"] ?? 0) },
            Column("columns", isText: true, shown: { $0.changed.map { "\($0.name) \($0.count)" }.joined(separator: ", ") }) {
                .object($0.changed.map { CellMember(name: $0.name, value: .unsigned($0.count)) })
            },
        ]
    }
}
