import MeshLedger
import MeshTables
import Meshtastic

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
    /// Whether rows are chosen or sorted by it, or it says what they are about: a narrow terminal leaves it out last.
    var isMain: Bool
    /// Whether only `--columns` shows it; conditions and orders may name it all the same.
    var isOnRequest = false
    /// Its form in tables, where that differs from the value; nil where it does not.
    var shown: ((Row) -> String?)?
    /// Whether it is a length of time in seconds, which is compared with `1d`.
    var isAge = false
    /// Whether its time is only that of an import, of which a table shows the day.
    var isOfImport: ((Row) -> Bool)?
    /// Whether its form in tables includes other columns.
    var isSummary = false
    /// The names that its values have; nil where they are no names.
    var names: KnownNames?
    /// The type of its values; nil where only a row shows it.
    var type: ColumnType?
    /// In tables, how many digits of a fraction.
    var digits: Int { isPlace ? 5 : 2 }
    /// Degrees that go without saying.
    private var isPlace: Bool { name.hasSuffix("latitude") || name.hasSuffix("longitude") }

    init(
        _ name: String, heading: String? = nil, unit: String? = nil, isDetail: Bool = false, canCut: Bool = false,
        isText: Bool = false,
        isMinor: Bool = false, isMain: Bool = false, isOfImport: ((Row) -> Bool)? = nil, shown: ((Row) -> String?)? = nil,
        value: @escaping (Row) -> CellValue
    ) {
        self.name = name
        let title = heading ?? name.replacing("_", with: " ")
        self.title = title
        self.heading = title
        self.isDetail = isDetail
        self.canCut = canCut || isText
        self.isText = isText
        (self.isMinor, self.isMain) = (isMinor, isMain)
        self.value = value
        self.isOfImport = isOfImport
        self.shown =
            isOfImport.map { isOfImport in
                { row in isOfImport(row) ? value(row).time.map { TimeText.imported($0.seconds) } : shown?(row) }
            } ?? shown
        if unit != nil { type = .float64 }
        if let unit, !isPlace { self.heading = Self.heading(title, unit) }
    }

    /// The same where a table has bare numbers instead of `1d`.
    var headingOfNumbers: String { isAge ? Self.heading(heading, "s") : heading }

    /// With the unit, once: `uptime s`, not `uptime seconds s`.
    private static func heading(_ title: String, _ unit: String) -> String {
        let spelled = ["s": " seconds", "lx": " lux", "B": " bytes", "bpm": " bpm"][unit] ?? " \(unit)"
        if title == spelled.dropFirst() { return title }
        return "\(title.hasSuffix(spelled) ? String(title.dropLast(spelled.count)) : title) \(unit)"
    }

    /// The same column, of which all names are known: conditions that name another are refused.
    func named(_ names: KnownNames?) -> Column {
        var column = self
        column.names = names
        return column
    }

    /// The same column, which only `--columns` shows.
    var onRequest: Column {
        var column = self
        column.isOnRequest = true
        return column
    }

    /// The same column with its own value under its own name, where tables have a summary.
    var alone: Column {
        guard isSummary else { return self }
        var column = self
        let title = name.replacing("_", with: " ")
        (column.title, column.heading, column.shown) = (title, title, nil)
        return column
    }

    /// The same column for a value that contains such a row.
    /// - Parameter lend: passes the row on: a copy of it would cost as much as the column's value.
    @inline(__always)
    func of<Whole>(_ lend: @escaping (_ whole: Whole, _ use: (Row) -> Void) -> Void) -> Column<Whole> {
        func read<Value>(_ value: @escaping (Row) -> Value, _ none: Value) -> (Whole) -> Value {
            { whole in
                var result = none
                lend(whole) { result = value($0) }
                return result
            }
        }
        return with(
            value: read(value, .null), shown: shown.map { read($0, nil) }, isOfImport: isOfImport.map { read($0, false) })
    }

    /// The same column of other rows.
    func with<Other>(
        value: @escaping (Other) -> CellValue, shown: ((Other) -> String?)?, isOfImport: ((Other) -> Bool)?
    ) -> Column<Other> {
        var column = Column<Other>(
            name, heading: title, isDetail: isDetail, canCut: canCut, isText: isText, isMinor: isMinor, isMain: isMain,
            shown: shown, value: value)
        (column.heading, column.isOfImport, column.names, column.type) = (heading, isOfImport, names, type)
        (column.isSummary, column.isAge, column.isOnRequest) = (isSummary, isAge, isOnRequest)
        return column
    }
}
