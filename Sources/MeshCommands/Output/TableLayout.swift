/// The widths of a table's columns, in columns of the terminal.
///
/// Where the output has a width, texts are wrapped to make room, minor columns are left out, then names are truncated, widest first. Columns that still do
/// not fit are left out from the right, but no text; then the widest main ones. Without a width nothing is ever wrapped or truncated.
struct TableLayout {
    private static let shortestCut = 8
    private static let shortestText = 24
    private static let space = 2

    private var widths: [Int]
    private let isNumeric: [Bool]
    private let canCut: [Bool]
    private let isText: [Bool]
    private let isMinor: [Bool]
    private let isMain: [Bool]
    private let pairs: [(Int, Int)]
    private let isBounded: Bool
    private var shown: [Int]

    /// How many columns were left out.
    var hiddenCount: Int { widths.count - shown.count }

    /// - Parameters:
    ///   - isText: the columns that are wrapped; nil for none.
    ///   - isMinor: the columns that are left out before anything is truncated; of texts, those that are left out like others. Nil for none.
    ///   - isMain: the columns that are left out last; nil for the first one.
    ///   - pairs: columns that are left out together.
    init(
        headings: [String], rows: [[String]], isNumeric: [Bool], canCut: [Bool], isText: [Bool]? = nil, isMinor: [Bool]? = nil,
        isMain: [Bool]? = nil, pairs: [(Int, Int)] = [], width: Int?
    ) {
        self.isNumeric = isNumeric
        self.canCut = canCut
        self.isText = isText ?? headings.map { _ in false }
        self.isMinor = isMinor ?? headings.map { _ in false }
        self.isMain = isMain ?? headings.indices.map { $0 == 0 }
        self.pairs = pairs
        isBounded = width != nil
        widths = headings.map(DisplayWidth.of)
        shown = Array(headings.indices)
        for row in rows {
            for (index, cell) in row.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(cell)) }
        }
        if let width { fit(width) }
    }

    private mutating func fit(_ width: Int) {
        let (isText, canCut) = (isText, canCut)
        while total > width, narrow(where: { isText[$0] && $1 > max(Self.shortestText, width / 3) }) {}
        while total > width, let minor = shown.last(where: { isMinor[$0] && !isMain[$0] && !isText[$0] }) { hide(minor) }
        while total > width, narrow(where: { canCut[$0] && !isText[$0] && $1 > Self.shortestCut }) {}
        while total > width, narrow(where: { isText[$0] && $1 > Self.shortestText }) {}
        while total > width, shown.count > 1 {
            if narrow(where: { isText[$0] && $1 > Self.shortestCut * 2 }) { continue }
            let mains = shown.filter { !isText[$0] }
            if let last = shown.last(where: { !isMain[$0] && (!isText[$0] || isMinor[$0]) }) {
                hide(last)
            } else if mains.count > 1, let widest = mains.reversed().max(by: { widths[$0] < widths[$1] }) {
                hide(widest)
            } else if !narrow(where: { isText[$0] && $1 > Self.shortestCut }), let last = shown.last {
                hide(last)
            }
        }
        // What is left is for the last text, which may be longer in later rows; else what was left out makes room for the last name.
        let spare = width - total
        guard spare > 0, let taker = shown.last(where: { isText[$0] }) ?? shown.last(where: { canCut[$0] }) else { return }
        if hiddenCount > 0 || isText[taker] && taker == shown.last { widths[taker] += spare }
    }

    private mutating func hide(_ column: Int) {
        let pair = pairs.first { $0.0 == column || $0.1 == column } ?? (column, column)
        shown.removeAll { $0 == pair.0 || $0 == pair.1 }
    }

    private var total: Int { shown.reduce(0) { $0 + widths[$1] } + Self.space * (shown.count - 1) }

    /// Takes a column from the widest of some.
    private mutating func narrow(where mayBe: (_ column: Int, _ width: Int) -> Bool) -> Bool {
        guard let widest = shown.filter({ mayBe($0, widths[$0]) }).max(by: { widths[$0] < widths[$1] }) else { return false }
        widths[widest] -= 1
        return true
    }

    /// A row; several lines where a text is wrapped.
    func line(_ cells: [String]) -> String {
        guard isBounded else { return line { cells[$0] } }
        let parts = cells.enumerated().map { index, cell in
            if isText[index] { return DisplayWidth.wrapped(cell, to: widths[index]) }
            return [canCut[index] ? DisplayWidth.cut(cell, to: widths[index]) : cell]
        }
        let height = shown.map { parts[$0].count }.max() ?? 1
        return (0..<height).map { row in
            line { parts[$0].indices.contains(row) ? parts[$0][row] : "" }
        }.joined(separator: "\n")
    }

    private func line(_ cell: (Int) -> String) -> String {
        var line = ""
        for (place, index) in shown.enumerated() {
            let text = cell(index)
            let isLast = place == shown.count - 1
            if place > 0 { line += "  " }
            if !isNumeric[index] { line += text }
            if isNumeric[index] || !isLast {
                line += String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(text)))
            }
            if isNumeric[index] { line += text }
        }
        return line
    }
}
