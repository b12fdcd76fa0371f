import MeshTables
import Projections
import ProtobufWire

/// Prints rows one after the other in constant memory: a table finds its widths in the first 200 rows.
final class AnyRowWriter {
    private static let rowsForWidths = 200
    private static let rowsOfPart = 512

    private let columns: [Column<AnyRow>]
    private let shownColumns: [Column<AnyRow>]
    private let digits: [Int]
    private let format: OutputFormat
    let style: TableStyle
    private let output: StandardOutput
    /// Adds a row's values to a line: one closure that calls the others, since each call of one in an array would count references to it.
    private let appendValues: (AnyRow, inout [UInt8]) -> Void
    /// A line, whose memory the next one reuses.
    private var text: [UInt8] = []
    private var waiting: [[String]] = []
    private var isNumeric: [Bool]
    /// What the heading has of the times of each column; empty for most.
    private var offsets: [String]
    private var layout: TableLayout?
    private(set) var count = 0
    /// Whether rows are printed as they come.
    private var isLive = false
    /// Where rows are printed by another thread: those that it does not have yet.
    private var rows: [AnyRow] = []
    private var behind: WorkBehind?

    init(_ columns: [Column<AnyRow>], format: OutputFormat, output: StandardOutput, style: TableStyle = TableStyle()) {
        self.columns = columns
        self.format = format
        self.style = style
        self.output = output
        let shown = columns.filter { !$0.isDetail }
        shownColumns = style.keepsOrder ? shown : shown.filter { !$0.isText } + shown.filter(\.isText)
        digits = shownColumns.map(\.digits)
        isNumeric = Array(repeating: true, count: shownColumns.count)
        offsets = Array(repeating: "", count: shownColumns.count)
        appendValues = Self.appending(columns, format)
    }

    private static func appending(_ columns: [Column<AnyRow>], _ format: OutputFormat) -> (AnyRow, inout [UInt8]) -> Void {
        var all: (AnyRow, inout [UInt8]) -> Void = { _, _ in }
        for (index, column) in columns.enumerated() {
            let (before, value) = (all, column.value)
            guard format != .csv else {
                all = { row, text in
                    before(row, &text)
                    if index > 0 { text.append(UInt8(ascii: ",")) }
                    value(row).appendCSV(to: &text)
                }
                continue
            }
            let start = Array(((index == 0 ? "{" : ",") + JSONText.quoted(column.name) + ":").utf8)
            all = { row, text in
                before(row, &text)
                // Without a reference to the array, which would be counted.
                unsafe start.withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
                value(row).appendJSON(to: &text)
            }
        }
        return all
    }

    /// What precedes the rows, once the first of them or the end comes: before an error, nothing is printed.
    private func writeHead() {
        if format == .csv {
            writeCSV { text in
                for (index, column) in columns.enumerated() {
                    if index > 0 { text.append(UInt8(ascii: ",")) }
                    CellValue.text(column.name).appendCSV(to: &text)
                }
            }
        }
        if format == .json { output.write("[") }
    }

    /// Rows for programs are printed by another thread, while the caller's finds the next ones. Nothing else may use the columns meanwhile.
    func printBehind() { if format != .table, !output.isTerminal { behind = WorkBehind() } }

    func write(_ row: AnyRow) {
        if count == 0, !isLive { writeHead() }
        count += 1
        if format == .table { return addToTable(row) }
        guard behind != nil, count > Self.rowsForWidths else {
            put(row, isFirst: count == 1)
            // A program that reads it gets the first row at once.
            if count == 1, !output.isTerminal { output.flush() }
            return
        }
        rows.append(row)
        if rows.count == Self.rowsOfPart { handOver() }
    }

    private func put(_ row: AnyRow, isFirst: Bool) {
        switch format {
        case .table: break
        case .csv: writeCSV { appendValues(row, &$0) }
        case .jsonl: writeObject(row, before: "")
        case .json: writeObject(row, before: isFirst ? "\n" : ",\n")
        }
    }

    private func handOver() {
        guard let behind, !rows.isEmpty else { return }
        let part = rows
        rows = []
        rows.reserveCapacity(Self.rowsOfPart)
        behind.add { for row in part { self.put(row, isFirst: false) } }
    }

    /// Waits until all rows are printed.
    private func settle() {
        handOver()
        behind?.wait()
    }

    /// Begins a table whose rows are printed as they come, as wide as these would be; without any, as wide as the first to come.
    func begin(like rows: some Sequence<AnyRow>) {
        isLive = true
        writeHead()
        if format == .table {
            for row in rows { waiting.append(cells(row)) }
            if !waiting.isEmpty { layOut() }
            waiting.removeAll()
        }
        output.flush()
    }

    var isOnTerminal: Bool { output.isTerminal }

    /// Whether a terminal has shown something of it.
    var isShown: Bool { output.isTerminal && output.hasWritten }

    /// What is on the terminal's last line until something is written to the terminal.
    func replaces(_ bar: ProgressBar) { output.bar = bar }

    /// Passes on what was written.
    func flush() {
        settle()
        if isLive, layout == nil, !waiting.isEmpty { startTable() }
        output.flush()
    }

    /// Writes the last rows, and the end of the format.
    /// - Parameters:
    ///   - emptyNote: what is said where there are no rows; nil for nothing.
    ///   - more: what is said after a table of some of the rows.
    func finish(emptyNote: String? = "nothing found", more: String? = nil) {
        settle()
        if count == 0, !isLive { writeHead() }
        switch format {
        case .table:
            if count == 0, let emptyNote { StandardOutput.error(emptyNote) }
            if layout == nil, count > 0 { startTable() }
        case .json: output.line(count == 0 ? "]" : "\n]")
        case .csv, .jsonl: break
        }
        if format == .table {
            if let layout, layout.hiddenCount > 0 {
                let columns = layout.hiddenCount.counted("more column does", "more columns do")
                note("(\(columns) not fit: --wide)")
            }
            if let more, count > 0 { note("(\(more))") }
        }
        output.finish()
    }

    /// On a terminal below the table, also in a pager; else where it is no part of it.
    private func note(_ text: String) {
        if let width = output.columns {
            DisplayWidth.wrapped(text, to: width).forEach { output.line($0) }
        } else {
            StandardOutput.error(text)
        }
    }

    private func writeObject(_ row: AnyRow, before: String) {
        var text = emptyLine()
        text += before.utf8
        appendValues(row, &text)
        text += (columns.isEmpty ? "{}" : "}").utf8
        if format == .jsonl { text.append(UInt8(ascii: "\n")) }
        write(text)
    }

    /// A line ended as in RFC 4180. Fields keep their control characters, except where a terminal would interpret them.
    private func writeCSV(_ appendFields: (inout [UInt8]) -> Void) {
        var text = emptyLine()
        appendFields(&text)
        // Readers of CSV skip an empty line.
        if text.isEmpty { text += "\"\"".utf8 }
        if output.isTerminal { text = Array(DisplayWidth.safe(String(decoding: text, as: UTF8.self)).utf8) }
        text.append(UInt8(ascii: "\r"))
        text.append(UInt8(ascii: "\n"))
        write(text)
    }

    /// A local array is changed without checks of access to the property.
    private func emptyLine() -> [UInt8] {
        var line: [UInt8] = []
        swap(&line, &text)
        line.removeAll(keepingCapacity: true)
        return line
    }

    private func write(_ line: consuming [UInt8]) {
        output.write(line)
        output.endLine()
        text = line
    }

    private func cells(_ row: AnyRow) -> [String] {
        shownColumns.indices.map { index in
            let value = shownColumns[index].value(row)
            if !value.isNumber && value != .null { isNumeric[index] = false }
            return DisplayWidth.safe(shownColumns[index].shown?(row) ?? value.table(style.zone, digits: digits[index]))
        }
    }

    /// Where all local times of a column have the same offset, its heading has it instead; a day of an import has none.
    private func moveOffsets() {
        for column in shownColumns.indices {
            let offsets = Set(waiting.compactMap { TableZone.offset(in: $0[column]) })
            let times = waiting.count {
                $0[column].isEmpty || TableZone.offset(in: $0[column]) != nil || TimeText.isImported($0[column])
            }
            guard offsets.count == 1, times == waiting.count, let offset = offsets.first else { continue }
            self.offsets[column] = offset
        }
        for row in waiting.indices { waiting[row] = withoutOffsets(waiting[row]) }
    }

    private func withoutOffsets(_ cells: [String]) -> [String] {
        zip(cells, offsets).map { cell, offset in
            offset.isEmpty || TableZone.offset(in: cell) != offset ? cell : String(cell.dropLast(offset.count))
        }
    }

    private func addToTable(_ row: AnyRow) {
        let cells = withoutOffsets(cells(row))
        if let layout {
            output.line(layout.line(cells))
        } else {
            waiting.append(cells)
            if waiting.count == Self.rowsForWidths { startTable() }
        }
    }

    private func layOut() {
        let width = style.isWide ? nil : output.columns
        if width != nil { moveOffsets() }
        let headings = zip(shownColumns, offsets).map { DisplayWidth.safe($1.isEmpty ? $0.heading : "\($0.heading) \($1)") }
        let layout = TableLayout(
            headings: headings, rows: waiting, isNumeric: isNumeric, canCut: shownColumns.map(\.canCut),
            isText: shownColumns.map(\.isText), isMinor: shownColumns.map(\.isMinor), isMain: isMain,
            pairs: pairs, width: width)
        let heading = layout.line(headings)
        output.line(output.hasColour ? "\u{1b}[1m\(heading)\u{1b}[0m" : heading)
        self.layout = layout
    }

    /// The first column says what a row is about, unless it is a sequence: that is for other commands.
    private var isMain: [Bool] {
        shownColumns.enumerated().map { $1.isMain || $0 == 0 && !$1.name.hasSuffix("sequence") }
    }

    /// A latitude and its longitude: neither tells anything without the other.
    private var pairs: [(Int, Int)] {
        shownColumns.indices.compactMap { index in
            guard shownColumns[index].name.hasSuffix("latitude") else { return nil }
            let other = shownColumns[index].name.replacing("latitude", with: "longitude")
            return shownColumns.firstIndex { $0.name == other }.map { (index, $0) }
        }
    }

    private func startTable() {
        layOut()
        if let layout { for cells in waiting { output.line(layout.line(cells)) } }
        waiting.removeAll()
    }
}
