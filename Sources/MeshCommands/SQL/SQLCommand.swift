import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
import ProtobufWire

struct SQLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql", abstract: "Query the ledger in SQL, in SQLite's dialect.",
        discussion: """
            Each view is a table, and so are events, packets and receptions; times are seconds since 1970, nodes are texts such as !19025c00. Every statement
            reads the current state, even while another program writes. Without a statement, there is a prompt; from a pipe or a file, the first error ends the run.

              meshledger sql 'SELECT long_name, last_heard FROM nodes ORDER BY last_heard DESC LIMIT 5'
              meshledger sql 'SELECT * FROM positions WHERE node = ? ORDER BY time DESC LIMIT 100' '!19025c00' --format csv
              meshledger sql 'SELECT node, time, battery_level FROM telemetry_device' --format parquet --output battery.parquet
              meshledger sql "SELECT count(*) FROM nodes WHERE as_of = '2025-09-01'"
              meshledger sql '.schema positions'
              meshledger sql 'EXPLAIN QUERY PLAN SELECT * FROM messages WHERE "from" = ?' '!19025c00'
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: SQLOutputOptions
    @Argument(help: "Statements, separated by semicolons; or a command of the prompt, such as .tables.", transform: plain)
    var statements: String?
    @Argument(help: "The values of their parameters, ?, ?2, :name; numbers are written as in SQL.", transform: plain)
    var values: [String] = []

    func validate() throws {
        if let command = statements, command.hasPrefix("."), !values.isEmpty {
            throw ValidationError("\(command) takes no values; the prompt's commands are one argument: '.schema positions'")
        }
    }

    func run() async throws {
        try await ledger.reading(past, saying: nil) { ledger in
            let opener = LedgerOpener(views: CustomViews.types)
            do {
                let sqlite = try LinkedSQLite(ledger, opener)
                let run = SQLRun(sqlite.connection, ledger, output)
                if let statements, statements.hasPrefix(".") {
                    try SQLPrompt(run).run(statements)
                } else if let statements {
                    try run.run(statements, values.map(Self.value))
                } else {
                    try SQLPrompt(run).run()
                }
            } catch let error as SQLError {
                await opener.closePast()
                throw CommandError(.usage, error.description)
            } catch {
                await opener.closePast()
                throw error
            }
            await opener.closePast()
        }
    }

}

/// The formats of answers: rows, or columns for analysis.
enum SQLFormat: String, NamedChoice {
    case table, json, jsonl, csv, arrow, parquet

    /// Nil for column formats.
    var ofRows: OutputFormat? { OutputFormat(rawValue: rawValue) }
}

struct SQLOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "table for people; json, jsonl and csv for programs; arrow and parquet for analysis.", valueName: "format"))
    var format = SQLFormat.table
    @Option(
        name: .shortAndLong, help: ArgumentHelp("Write to this file instead.", valueName: "file"), completion: .file())
    var output: String?
    @Flag(help: "Show tables whole, without omitting or wrapping columns, however narrow the terminal is.") var wide = false
    @Flag(help: "Do not page long output on a terminal ($PAGER, by default less).") var noPager = false
}

/// Writes the answers of statements in order.
final class SQLRun {
    let ledger: Ledger
    var format: SQLFormat
    private let connection: SQLConnection
    private let options: SQLOutputOptions
    /// The file for all answers, created with the first one.
    private var file: StandardOutput?
    private var hasColumns = false

    init(_ connection: SQLConnection, _ ledger: Ledger, _ options: SQLOutputOptions) {
        (self.connection, self.ledger, self.options, format) = (connection, ledger, options, options.format)
    }

    func finds(_ table: String) throws -> [String] { try connection.finds(table) }

    func run(_ text: String, _ values: [SQLValue] = []) throws {
        try WaitingLine.during("querying") { try answer(text, values) }
    }

    private func answer(_ text: String, _ values: [SQLValue]) throws {
        if let format = TableFormat(rawValue: format.rawValue) { return try write(text, values, as: format) }
        var writer: RowWriter<[SQLValue]>?
        try connection.run(text, values) { columns in
            writer = RowWriter(
                Self.columns(columns.map(\.name), format), format: format.ofRows ?? .table, output: try target(),
                style: TableStyle(isWide: options.wide))
        } row: { row in
            writer?.write(row)
            return true
        } end: {
            writer?.finish(emptyNote: "no rows")
            writer = nil
        }
    }

    private func target() throws -> StandardOutput {
        guard let path = options.output else { return StandardOutput(pages: !options.noPager) }
        let made = try file ?? StandardOutput(file: path)
        file = made
        return made
    }

    private func write(_ text: String, _ values: [SQLValue], as format: TableFormat) throws {
        var (export, output): (AnswerExport?, StandardOutput?) = (nil, nil)
        try connection.run(text, values) { columns in
            guard !hasColumns else {
                throw CommandError(.usage, "\(format.rawValue) holds the answer of one statement; ask the next one by itself")
            }
            hasColumns = true
            let made = try target()
            guard !made.isTerminal else {
                throw CommandError(.usage, "\(format.rawValue) is not for a terminal; use --output FILE")
            }
            export = AnswerExport(
                columns, of: SQLTables.schemas(in: ledger), format: format,
                isFile: options.output.map { $0.hasSuffix(".arrow") || $0.hasSuffix(".feather") } ?? false, to: made)
            output = made
        } row: { row in
            try export?.write(row)
            return true
        } end: {
            try export?.finish()
            output?.finish()
        }
    }

    /// People see the names of the statement; for programs each occurs once, as in Arrow and Parquet.
    private static func columns(_ names: [String], _ format: SQLFormat) -> [Column<[SQLValue]>] {
        var unique = UniqueNames()
        return names.enumerated().map { place, name in
            Column(format == .table ? name : unique.unique(name), heading: name, canCut: true) { CellValue($0[place]) }
        }
    }
}

extension CellValue {
    init(_ value: SQLValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .double(number)
            case .text(let text): .text(text)
            case .bytes(let bytes): .text(Hexadecimal.text(bytes))
            }
    }
}
