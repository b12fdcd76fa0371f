import MeshLedger
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
    /// Whether rows are chosen or sorted by it: a narrow terminal leaves it out last.
    var isAsked = false
    /// Its form in tables, where that differs from the value; nil where it does not.
    var shown: ((Row) -> String?)?
    /// The names that its values have; nil where they are no names.
    var names: KnownNames?
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
        self.heading = Self.heading(title, unit)
        self.isDetail = isDetail
        self.canCut = canCut || isText
        self.isText = isText
        self.isMinor = isMinor
        self.value = value
        self.shown = shown
    }

    /// With the unit, once: `uptime s`, not `uptime seconds s`.
    private static func heading(_ title: String, _ unit: String?) -> String {
        guard let unit else { return title }
        let spelled = ["s": " seconds", "lx": " lux", "B": " bytes", "bpm": " bpm"][unit] ?? " \(unit)"
        if title == spelled.dropFirst() { return title }
        return "\(title.hasSuffix(spelled) ? String(title.dropLast(spelled.count)) : title) \(unit)"
    }

    /// The time of a row. Tables show of an unknown one the day of the import.
    init(_ name: String = "time", time: @escaping (Row) -> UInt32, of source: @escaping (Row) -> TimeSource) {
        self.init(name, shown: { source($0) == .import ? TimeText.imported(time($0)) : nil }) { .time(time($0)) }
    }

    /// The same of a row that is first and last heard then.
    init(
        _ name: String, heading: String? = nil, isDetail: Bool = false, heard time: @escaping (Row) -> UInt32,
        atImport isOfImport: @escaping (Row) -> Bool
    ) {
        self.init(name, heading: heading, isDetail: isDetail, shown: { isOfImport($0) ? TimeText.imported(time($0)) : nil }) {
            .time(time($0))
        }
    }

    /// A column of an enumeration. Its names are made once: the name of a case is looked up in the program's metadata.
    init<Case: CaseIterable & RawRepresentable>(
        cases name: String, heading: String? = nil, isDetail: Bool = false, _ value: @escaping (Row) -> Case
    ) where Case.RawValue == UInt8 {
        var names = [CellValue](repeating: .null, count: Int(UInt8.max) + 1)
        for known in Case.allCases { names[Int(known.rawValue)] = .text("\(known)") }
        self.init(name, heading: heading, isDetail: isDetail) { names[Int(value($0).rawValue)] }
        self.names = .cases(Case.self)
    }

    /// The same column, of which all names are known: conditions that name another are refused.
    func named(_ names: KnownNames?) -> Column {
        var column = self
        column.names = names
        return column
    }

    /// The same column for a value that contains such a row.
    func of<Whole>(_ row: @escaping (Whole) -> Row) -> Column<Whole> {
        var column = Column<Whole>(
            name, heading: title, isDetail: isDetail, canCut: canCut, isText: isText, isMinor: isMinor,
            shown: shown.map { shown in { shown(row($0)) } }
        ) { value(row($0)) }
        column.heading = heading
        column.names = names
        return column
    }
}

/// The names that values of a column can have.
enum KnownNames {
    /// One of Meshtastic's enumerations; numbers without a name are printed as numbers.
    case enumeration(String)
    case ports
    case these([String])

    static func cases<Value: CaseIterable>(_ type: Value.Type) -> KnownNames { .these(Value.allCases.map { "\($0)" }) }

    var all: [String] {
        switch self {
        case .enumeration(let name): FieldTable.standard.enumeration(named: name)?.values.map(\.name) ?? []
        case .ports: PacketCell.portNames + ["UNKNOWN_APP", "unreadable"]
        case .these(let names): names
        }
    }

    /// The name that somebody means: in any case, or as its number.
    /// - Throws: a `CommandError` with 66 that lists the names, where it is none of them.
    func name(for text: String, of what: String) throws(CommandError) -> String {
        if let number = UInt32(text) {
            switch self {
            case .enumeration(let name): return CellValue.name(number, of: name).plain
            case .ports: return FieldTable.portName(number) ?? text
            case .these: break
            }
        }
        if case .ports = self, let number = FieldTable.port(named: text), let name = FieldTable.portName(number) { return name }
        return try KnownName.find(text, what, among: all)
    }

    /// The number of a name; nil where the names have none.
    func number(of text: String, in what: String) throws(CommandError) -> UInt32? {
        guard UInt32(text) == nil else { return UInt32(text) }
        let name = try name(for: text, of: what)
        switch self {
        case .enumeration(let table):
            let values = FieldTable.standard.enumeration(named: table)?.values ?? []
            return values.first { $0.name == name }.flatMap { UInt32(exactly: $0.number) }
        case .ports: return FieldTable.port(named: name)
        case .these: return nil
        }
    }
}
