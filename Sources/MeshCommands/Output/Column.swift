/// One column of a row: its name in CSV and JSON, its heading and unit in tables, and its value.
struct Column<Row> {
    var name: String
    var heading: String
    /// Only for CSV and JSON, which have room for everything.
    var isDetail: Bool
    /// Whether a narrow terminal may show only the beginning; ids, times and numbers are shown in full or not at all.
    var canCut: Bool
    var value: (Row) -> CellValue
    /// Its form in tables, where that differs from the value.
    var shown: ((Row) -> String)?

    init(
        _ name: String, heading: String? = nil, unit: String? = nil, isDetail: Bool = false, canCut: Bool = false,
        shown: ((Row) -> String)? = nil, value: @escaping (Row) -> CellValue
    ) {
        self.name = name
        let title = heading ?? name.replacing("_", with: " ")
        self.heading = unit.map { "\(title) \($0)" } ?? title
        self.isDetail = isDetail
        self.canCut = canCut
        self.value = value
        self.shown = shown
    }

    /// The same column for a value that contains such a row.
    func of<Whole>(_ row: @escaping (Whole) -> Row) -> Column<Whole> {
        Column<Whole>(
            name, heading: heading, isDetail: isDetail, canCut: canCut, shown: shown.map { shown in { shown(row($0)) } }
        ) { value(row($0)) }
    }
}
