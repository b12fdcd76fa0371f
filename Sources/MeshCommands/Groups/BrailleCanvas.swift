/// Lines drawn with braille: two dots by four in each character.
struct BrailleCanvas {
    let width: Int
    let height: Int
    private var cells: [UInt8]

    /// - Parameters: in characters.
    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        cells = Array(repeating: 0, count: width * height)
    }

    private static let dots: [[UInt8]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]

    /// - Parameters:
    ///   - column: in dots, from the left.
    ///   - row: in dots, from the top.
    mutating func set(column: Int, row: Int) {
        guard (0..<width * 2).contains(column), (0..<height * 4).contains(row) else { return }
        cells[row / 4 * width + column / 2] |= Self.dots[column % 2][row % 4]
    }

    mutating func line(from start: (column: Int, row: Int), to end: (column: Int, row: Int)) {
        let steps = max(abs(end.column - start.column), abs(end.row - start.row), 1)
        for step in 0...steps {
            set(
                column: start.column + (end.column - start.column) * step / steps,
                row: start.row + (end.row - start.row) * step / steps)
        }
    }

    var lines: [String] {
        (0..<height).map { row in
            String(
                String.UnicodeScalarView(
                    cells[row * width..<(row + 1) * width].map { Unicode.Scalar(0x2800 + UInt32($0)) ?? " " }))
        }
    }
}
