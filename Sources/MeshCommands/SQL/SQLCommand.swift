import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
import ProtobufWire

struct SQLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql", abstract: "Asks the ledger in SQL, as SQLite speaks it.",
        discussion: """
            Each view is a table, and so are events, packets and receptions; times are seconds since 1970, nodes are texts such as !19025c00. Every statement
            reads the present state, beside a program that writes. Without a statement, it asks for them at a prompt.

              meshledger sql 'SELECT long_name, last_heard FROM nodes ORDER BY last_heard DESC LIMIT 5'
              meshledger sql 'SELECT * FROM positions WHERE node = ? ORDER BY time DESC LIMIT 100' '!19025c00' --format csv
              meshledger sql "SELECT count(*) FROM nodes WHERE as_of = '2025-09-01'"
              meshledger sql 'EXPLAIN QUERY PLAN SELECT * FROM messages WHERE "from" = ?' '!19025c00'
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @Argument(help: "Statements, separated by semicolons.") var statements: String?
    @Argument(help: "The values of their parameters: ?, ?2, :name.") var values: [String] = []

    func run() async throws {
        try await ledger.reading(past, saying: nil) { ledger in
            let opener = LedgerOpener(views: CustomViews.types)
            do {
                let sqlite = try LinkedSQLite(ledger, opener)
                if let statements {
                    try SQLRun(sqlite.connection, output.format).run(statements, values.map(Self.value))
                } else {
                    try SQLPrompt(sqlite.connection, ledger, output.format).run()
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

    /// What looks like a number is one.
    private static func value(_ text: String) -> SQLValue {
        if let number = Int64(text), String(number) == text { return .integer(number) }
        if let number = Double(text), number.isFinite,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2e || $0 == 0x2d })
        {
            return .real(number)
        }
        return .text(text)
    }
}

/// Prints the answers of statements, each in the form of the other commands.
struct SQLRun {
    private let connection: SQLConnection
    private let format: OutputFormat

    init(_ connection: SQLConnection, _ format: OutputFormat) {
        (self.connection, self.format) = (connection, format)
    }

    func run(_ text: String, _ values: [SQLValue] = []) throws {
        var writer: RowWriter<[SQLValue]>?
        try connection.run(text, values) { names in
            writer = RowWriter(Self.columns(names), format: format, output: StandardOutput())
        } row: { row in
            writer?.write(row)
            return true
        } end: {
            writer?.finish(emptyNote: "no rows")
            writer = nil
        }
    }

    private static func columns(_ names: [String]) -> [Column<[SQLValue]>] {
        names.enumerated().map { place, name in Column(name, heading: name, canCut: true) { CellValue($0[place]) } }
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
