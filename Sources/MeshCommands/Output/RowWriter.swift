import ArgumentParser
import MeshTables

/// How rows are printed.
enum OutputFormat: String, NamedChoice {
    case table, json, jsonl, csv
}

/// How a table looks.
struct TableStyle {
    var zone = TableZone.utc
    /// Whether lines may be longer than the terminal is wide.
    var isWide = false
    /// Whether columns stay in their order; else texts come last.
    var keepsOrder = false
}

/// Prints rows of one type.
final class RowWriter<Row> {
    private let writer: AnyRowWriter

    /// - Parameter writer: of such rows.
    init(_ writer: AnyRowWriter) { self.writer = writer }

    init(_ columns: [Column<Row>], format: OutputFormat, output: StandardOutput, style: TableStyle = TableStyle()) {
        writer = AnyRowWriter(columns.map(\.ofAnyRow), format: format, output: output, style: style)
    }

    var style: TableStyle { writer.style }
    /// How many rows were written.
    var count: Int { writer.count }

    func printBehind() { writer.printBehind() }
    func write(_ row: Row) { writer.write(AnyRow(row)) }
    func begin(like rows: some Sequence<Row>) { writer.begin(like: rows.lazy.map { AnyRow($0) }) }
    func flush() { writer.flush() }

    func finish(emptyNote: String? = "nothing found", more: String? = nil) { writer.finish(emptyNote: emptyNote, more: more) }
}
