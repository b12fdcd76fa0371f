/// One column of a row: its name in CSV and JSON, its heading and unit in tables, and its value.
struct Column<Row> {
    var name: String
    /// Its heading without the unit, by which it can also be named.
    var title: String
    var heading: String
    /// Only for CSV and JSON, which have room for everything.
    var isDetail: Bool
    /// Whether a narrow terminal may show only the beginning; ids, times and numbers are shown in full or not at all.
    var canCut: Bool
    /// Whether it is a text of any length, which tables have last and wrap on a terminal.
    var isText: Bool
    var value: (Row) -> CellValue
    /// Whether a narrow terminal leaves it out first.
    var isMinor: Bool
    /// Its form in tables, where that differs from the value; nil where it does not.
    var shown: ((Row) -> String?)?
    /// In tables, how many digits of a fraction.
    var digits: Int { name.hasSuffix("latitude") || name.hasSuffix("longitude") ? 5 : 2 }

    init(
        _ name: String, heading: String? = nil, unit: String? = nil, isDetail: Bool = false, canCut: Bool = false,
        isText: Bool = false,
        isMinor: Bool = false, shown: ((Row) -> String?)? = nil, value: @escaping (Row) -> CellValue
    ) {
        self.name = name
        let title = heading ?? name.replacing("_", with: " ")
        self.title = title
        self.heading = [title, unit].compactMap(\.self).joined(separator: " ")
        self.isDetail = isDetail
        self.canCut = canCut || isText
        self.isText = isText
        self.isMinor = isMinor
        self.value = value
        self.shown = shown
    }

    /// The same column for a value that contains such a row.
    func of<Whole>(_ row: @escaping (Whole) -> Row) -> Column<Whole> {
        var column = Column<Whole>(
            name, heading: title, isDetail: isDetail, canCut: canCut, isText: isText, isMinor: isMinor,
            shown: shown.map { shown in { shown(row($0)) } }
        ) { value(row($0)) }
        column.heading = heading
        return column
    }
}
