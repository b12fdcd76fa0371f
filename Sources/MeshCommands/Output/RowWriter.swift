import ArgumentParser

/// How rows are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json, jsonl, csv
}

/// Prints rows one after the other in constant memory: a table finds its widths in the first 200 rows.
final class RowWriter<Row> {
    private static var rowsForWidths: Int { 200 }

    private let columns: [Column<Row>]
    private let shownColumns: [Column<Row>]
    private let format: OutputFormat
    private let output: StandardOutput
    private var waiting: [[String]] = []
    private var isNumeric: [Bool]
    private var layout: TableLayout?
    private(set) var count = 0

    init(_ columns: [Column<Row>], format: OutputFormat, output: StandardOutput) {
        self.columns = columns
        self.format = format
        self.output = output
        shownColumns = columns.filter { !$0.isDetail }
        isNumeric = Array(repeating: true, count: shownColumns.count)
        if format == .csv { writeCSV(columns.map { CSVText.field($0.name) }) }
        if format == .json { output.write("[") }
    }

    func write(_ row: Row) {
        count += 1
        switch format {
        case .table: addToTable(row)
        case .csv: writeCSV(columns.map { CSVText.field($0.value(row)) })
        case .jsonl: output.line(object(row).json)
        case .json: output.write((count == 1 ? "\n" : ",\n") + object(row).json)
        }
    }

    /// Writes the last rows, and the end of the format.
    func finish(emptyNote: String = "nothing found") {
        switch format {
        case .table:
            if count == 0 { StandardOutput.error(emptyNote) }
            if layout == nil, count > 0 { startTable() }
        case .json: output.line(count == 0 ? "]" : "\n]")
        case .csv, .jsonl: break
        }
        output.flush()
        if let layout, layout.hiddenCount > 0 {
            StandardOutput.error(
                "(\(layout.hiddenCount) more columns do not fit; a wider terminal, --format csv or --format json shows them)")
        }
    }

    private func object(_ row: Row) -> CellValue {
        .object(columns.map { CellMember(name: $0.name, value: $0.value(row)) })
    }

    /// A line ended as in RFC 4180. Fields keep their control characters, except where a terminal would interpret them.
    private func writeCSV(_ fields: [String]) {
        let line = fields.joined(separator: ",")
        output.line((output.isTerminal ? DisplayWidth.safe(line) : line) + "\r")
    }

    private func addToTable(_ row: Row) {
        var cells: [String] = []
        for (index, column) in shownColumns.enumerated() {
            let value = column.value(row)
            if !value.isNumber && value != .null { isNumeric[index] = false }
            cells.append(DisplayWidth.safe(column.shown?(row) ?? value.plain))
        }
        if let layout {
            output.line(layout.line(cells))
        } else {
            waiting.append(cells)
            if waiting.count == Self.rowsForWidths { startTable() }
        }
    }

    private func startTable() {
        let layout = TableLayout(
            headings: shownColumns.map(\.heading), rows: waiting, isNumeric: isNumeric, canCut: shownColumns.map(\.canCut),
            width: output.columns)
        let heading = layout.line(shownColumns.map(\.heading))
        output.line(output.hasColour ? "\u{1b}[1m\(heading)\u{1b}[0m" : heading)
        for cells in waiting { output.line(layout.line(cells)) }
        waiting.removeAll()
        self.layout = layout
    }
}
