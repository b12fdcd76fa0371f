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
        if format == .csv { output.line(columns.map { CSVText.field($0.name) }.joined(separator: ",")) }
        if format == .json { output.write("[") }
    }

    func write(_ row: Row) {
        count += 1
        switch format {
        case .table: addToTable(row)
        case .csv: output.line(columns.map { CSVText.field($0.value(row)) }.joined(separator: ","))
        case .jsonl: output.line(object(row).json)
        case .json: output.write((count == 1 ? "\n" : ",\n") + object(row).json)
        }
    }

    /// The last rows, and what closes the format.
    func finish(emptyNote: String = "nothing found") {
        switch format {
        case .table:
            if count == 0 { StandardOutput.error(emptyNote) }
            if layout == nil, count > 0 { startTable() }
        case .json: output.line(count == 0 ? "]" : "\n]")
        case .csv, .jsonl: break
        }
        output.flush()
    }

    private func object(_ row: Row) -> CellValue {
        .object(columns.map { CellMember(name: $0.name, value: $0.value(row)) })
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
            headings: shownColumns.map(\.heading), rows: waiting, isNumeric: isNumeric, width: output.columns)
        let heading = layout.line(shownColumns.map(\.heading))
        output.line(output.hasColour ? "\u{1b}[1m\(heading)\u{1b}[0m" : heading)
        for cells in waiting { output.line(layout.line(cells)) }
        waiting.removeAll()
        self.layout = layout
    }
}

/// The widths of a table's columns, in columns of the terminal.
struct TableLayout {
    private var widths: [Int]
    private let isNumeric: [Bool]

    init(headings: [String], rows: [[String]], isNumeric: [Bool], width: Int?) {
        self.isNumeric = isNumeric
        widths = headings.map(DisplayWidth.of)
        for row in rows {
            for (index, cell) in row.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(cell)) }
        }
        guard let width else { return }
        while widths.reduce(0, +) + 2 * (widths.count - 1) > width, let widest = widths.max(), widest > 8 {
            guard let index = widths.firstIndex(of: widest) else { return }
            widths[index] -= 1
        }
    }

    func line(_ cells: [String]) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let text = DisplayWidth.cut(cell, to: widths[index])
            let space = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(text)))
            if index > 0 { line += "  " }
            if isNumeric[index] {
                line += space + text
            } else {
                line += index == cells.count - 1 ? text : text + space
            }
        }
        return line
    }
}

/// Fields of CSV as RFC 4180 has it. A text that a spreadsheet would run as a formula gets an apostrophe in front.
enum CSVText {
    static func field(_ value: CellValue) -> String {
        guard case .text(let text) = value else { return value.isNumber ? value.plain : field(value.plain) }
        let isFormula = text.first.map { "=+-@\t\r".contains($0) } ?? false
        return field(isFormula ? "'" + text : text)
    }

    static func field(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
