import MeshTables
import Testing

@testable import MeshCommands

struct TableTests {
    @Test(arguments: [
        ("abc", 3), ("日本", 4), ("☠️🐮", 4), ("e\u{301}", 1), ("👨‍👩‍👧", 2), ("🇪🇸", 2), ("한글", 4), ("\u{200b}", 0), ("é", 1), ("1️⃣", 2),
    ])
    func `the width of a text is what a terminal shows`(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test func `columns are aligned by display width`() {
        let rows = [["日本", "1"], ["abc", "22"], ["e\u{301}", "333"]]
        let layout = TableLayout(
            headings: ["name", "n"], rows: rows, isNumeric: [false, true], canCut: [true, false], width: nil)
        #expect(rows.map(layout.line) == ["日本    1", "abc    22", "e\u{301}     333"])
    }

    @Test func `without a terminal nothing is cut`() {
        let long = String(repeating: "x", count: 500)
        let layout = TableLayout(headings: ["a"], rows: [["short"]], isNumeric: [false], canCut: [true], width: nil)
        #expect(layout.line([long]) == long)
    }

    @Test(arguments: 10...120) func `on a terminal no line is wider than it, and ids are whole`(width: Int) {
        let row = ["!19025c00", "A rather long name of a node 🐮🐮🐮", "2026-01-31T10:15:30Z", "42"]
        let layout = TableLayout(
            headings: ["node", "name", "time", "n"], rows: [row], isNumeric: [false, false, false, true],
            canCut: [false, true, false, false], width: width)
        let line = layout.line(row)
        #expect(DisplayWidth.of(line) <= width)
        #expect(line.hasPrefix("!19025c00"))
        #expect(line.contains("2026") == line.contains("2026-01-31T10:15:30Z"))
    }

    @Test(arguments: 24...120) func `a text is wrapped between words, whole, and columns that matter less go first`(width: Int) {
        let text = "Überall ist 日本 und noch viel mehr als das Auge sieht 🐮🐮🐮"
        let layout = TableLayout(
            headings: ["node", "form", "text"], rows: [["!19025c00", "ServiceEnvelope", text]],
            isNumeric: [false, false, false], canCut: [false, true, true], isText: [false, false, true],
            isMinor: [false, true, false], width: width)
        let lines = layout.line(["!19025c00", "ServiceEnvelope", text]).split(separator: "\n")
        #expect(lines.allSatisfy { DisplayWidth.of(String($0)) <= width }, "\(lines)")
        let words = lines.joined(separator: " ").split(separator: " ").filter { !["!19025c00", "ServiceEnvelope"].contains($0) }
        #expect(words.joined() == text.filter { $0 != " " }, "\(lines)")
        #expect(!lines[0].contains("…"))
    }

    @Test func `control characters are shown, not obeyed`() {
        #expect(DisplayWidth.safe("a\u{1b}[31mred\u{9b}\u{7}\n") == "a\\u{1b}[31mred\\u{9b}\\u{7}\\n")
        #expect(DisplayWidth.safe("\u{202e}evil") == "\\u{202e}evil")
        #expect(DisplayWidth.safe("gate\u{200b}way\u{feff}") == "gate\\u{200b}way\\u{feff}")
        #expect(DisplayWidth.safe("\u{ad}\u{3164}") == "\\u{ad}\\u{3164}")
        #expect(DisplayWidth.safe("a\u{e0041}") == "a\\u{e0041}")
        let wales = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}"
        #expect(DisplayWidth.safe(wales + "b") == wales + "b")
        #expect(DisplayWidth.safe("👨‍👩‍👧 é") == "👨‍👩‍👧 é")
    }

    @Test(arguments: [
        (-0.001, "0.00"), (-0.0, "0.00"), (-0.006, "-0.01"), (0.004, "0.00"), (-Double.infinity, "-inf"), (-10.0, "-10.00"),
    ])
    func `what is rounded to nothing has no sign`(value: Double, text: String) {
        #expect(CellValue.double(value).rounded(2) == text && CellValue.float(Float(value)).rounded(2) == text)
    }

    @Test func `NaN and nothing come last in either order`() {
        let cells: [CellValue] = [.float(3.3), .float(.nan), .null, .float(3), .double(.nan), .float(4)]
        for reverse in [false, true] {
            let sorted = cells.sorted { $0.precedes($1, reverse: reverse) }.map(\.plain)
            #expect(sorted.prefix(3) == (reverse ? ["4.0", "3.3", "3.0"] : ["3.0", "3.3", "4.0"]), "\(sorted)")
            #expect(sorted.last == CellValue.null.plain)
        }
    }

    @Test func `a narrow table leaves out a latitude with its longitude, and what matters last`() {
        let row = ["!19025c00", "48.12345", "11.56789", "TEXT_MESSAGE_APP"]
        for width in 10...60 {
            let layout = TableLayout(
                headings: ["node", "latitude", "longitude", "port"], rows: [row], isNumeric: [false, true, true, false],
                canCut: [false, false, false, false], isMain: [false, false, false, true], pairs: [(1, 2)], width: width)
            let line = layout.line(row)
            #expect(line.contains(row[1]) == line.contains(row[2]) && (width < 27 || line.contains(row[3])), "\(line)")
        }
    }
}
