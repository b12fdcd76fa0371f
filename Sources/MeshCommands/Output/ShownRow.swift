import MeshLedger
import MeshTables

/// A row for lists, tables and exports. What a table shows of it is in the folder `Columns`; its values are those of its `TableColumn`s.
protocol ShownRow: TableRow {
    /// The columns that a table has. All others are for CSV and JSON, which have room for everything.
    static func shown(in ledger: Ledger) throws -> [ShownColumn<Self>]
    /// Columns of its list that other rows give: names, what a node reported last. They take a look into these, and are made only if they are wanted.
    /// - Parameter isWanted: asked with the names of columns.
    static func further(in ledger: Ledger, _ isWanted: (String) -> Bool) throws -> [Column<Self>]
}

extension ShownRow {
    static func further(in ledger: Ledger, _ isWanted: (String) -> Bool) throws -> [Column<Self>] { [] }
}

/// How a table shows a column.
struct ShownColumn<Row>: ExpressibleByStringLiteral {
    let name: String
    var heading: String?
    var isDetail = false
    var canCut = false
    var isText = false
    var isMinor = false
    var isMain = false
    var shown: ((Row) -> String?)?
    /// Whether `shown` includes other columns.
    var isSummary = false
    /// Whether its time is only that of an import, of which a table shows the day.
    var isOfImport: ((Row) -> Bool)?

    init(
        _ name: String, heading: String? = nil, isDetail: Bool = false, canCut: Bool = false, isText: Bool = false,
        isMinor: Bool = false, isMain: Bool = false, shown: ((Row) -> String?)? = nil
    ) {
        self.name = name
        self.heading = heading
        self.isDetail = isDetail
        self.canCut = canCut
        self.isText = isText
        (self.isMinor, self.isMain) = (isMinor, isMain)
        self.shown = shown
    }

    init(stringLiteral name: String) { self.init(name) }

    /// A column in whose place a table has a text about several.
    static func summary(
        _ name: String, heading: String, isDetail: Bool, shown: @escaping (Row) -> String?
    ) -> ShownColumn<Row> {
        var column = ShownColumn(name, heading: heading, isDetail: isDetail, canCut: true, shown: shown)
        column.isSummary = true
        return column
    }

    /// The time of a row.
    static func time(of source: @escaping (Row) -> TimeSource) -> ShownColumn {
        heard("time", isMain: true) { source($0) == .import }
    }

    /// When something was heard.
    static func heard(
        _ name: String, heading: String? = nil, isDetail: Bool = false, isMain: Bool = false,
        isOfImport: @escaping (Row) -> Bool
    ) -> ShownColumn {
        var column = ShownColumn(name, heading: heading, isDetail: isDetail, isMain: isMain)
        column.isOfImport = isOfImport
        return column
    }
}

extension Column {
    /// - Parameter shown: how a table shows it; nil for one that only CSV and JSON have.
    init(_ table: TableColumn<Row>, _ shown: ShownColumn<Row>?) {
        self.init(
            table.name, heading: shown?.heading, unit: table.schema.unit, isDetail: shown?.isDetail ?? true,
            canCut: shown?.canCut ?? false, isText: shown?.isText ?? false, isMinor: shown?.isMinor ?? false,
            isMain: shown?.isMain ?? false,
            isOfImport: shown?.isOfImport, shown: shown?.shown, value: table.cell)
        (names, type) = (table.names, table.schema.type)
        isSummary = shown?.isSummary ?? false
    }

    /// In the order of the table's.
    static func all(_ columns: [TableColumn<Row>], _ shown: [ShownColumn<Row>]) -> [Column] {
        columns.map { column in Column(column, shown.first { $0.name == column.name }) }
    }
}

extension Ledger {
    /// The columns of such rows.
    func columns<Row: ShownRow>(_ rows: Row.Type) throws -> [Column<Row>] {
        try columns(Row.shown(in: self), Row.tableColumns)
    }

    /// How a table shows such rows; nothing of those that no list has.
    func shown<Row>(_ rows: Row.Type) throws -> [ShownColumn<Row>] {
        func shown<Shown: ShownRow>(_ rows: Shown.Type) throws -> [ShownColumn<Row>]? {
            try Shown.shown(in: self) as? [ShownColumn<Row>]
        }
        return try (rows as? any ShownRow.Type).flatMap { try shown($0) } ?? []
    }

    func columns<Row>(
        _ shown: [ShownColumn<Row>], _ tableColumns: (TableContext) -> [TableColumn<Row>]
    ) throws -> [Column<Row>] {
        let context = TableContext(of: self)
        let columns = Column.all(tableColumns(context), shown)
        try context.check()
        return columns
    }
}
