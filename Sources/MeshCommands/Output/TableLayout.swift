/// The widths of a table's columns, in columns of the terminal.
///
/// Where the output has a width, texts are truncated to make room, widest first; columns that still do not fit are left out from the right.
/// Without a width nothing is ever truncated.
struct TableLayout {
    private static let shortestCut = 8
    private static let space = 2

    private var widths: [Int]
    private let isNumeric: [Bool]
    private let canCut: [Bool]
    private let isBounded: Bool
    private var shownCount: Int

    /// How many columns were left out.
    var hiddenCount: Int { widths.count - shownCount }

    init(headings: [String], rows: [[String]], isNumeric: [Bool], canCut: [Bool], width: Int?) {
        self.isNumeric = isNumeric
        self.canCut = canCut
        isBounded = width != nil
        widths = headings.map(DisplayWidth.of)
        shownCount = widths.count
        for row in rows {
            for (index, cell) in row.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(cell)) }
        }
        guard let width else { return }
        while total > width, shownCount > 1 {
            let cuttable = widths.indices.prefix(shownCount).filter { canCut[$0] && widths[$0] > Self.shortestCut }
            if let widest = cuttable.max(by: { widths[$0] < widths[$1] }) {
                widths[widest] -= 1
            } else {
                shownCount -= 1
            }
        }
        if let last = cuttableShare(of: width) { widths[last.index] += last.spare }
    }

    private var total: Int { widths.prefix(shownCount).reduce(0, +) + Self.space * (shownCount - 1) }

    /// The space left after columns were removed, for the last truncated text.
    private func cuttableShare(of width: Int) -> (index: Int, spare: Int)? {
        guard hiddenCount > 0, total < width, let index = widths.indices.prefix(shownCount).last(where: { canCut[$0] }) else {
            return nil
        }
        return (index, width - total)
    }

    func line(_ cells: [String]) -> String {
        var line = ""
        for (index, cell) in cells.prefix(shownCount).enumerated() {
            let text = isBounded && canCut[index] ? DisplayWidth.cut(cell, to: widths[index]) : cell
            let space = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(text)))
            if index > 0 { line += "  " }
            if isNumeric[index] {
                line += space + text
            } else {
                line += index == shownCount - 1 ? text : text + space
            }
        }
        return line
    }
}
