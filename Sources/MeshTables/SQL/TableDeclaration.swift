/// A table as declared to SQLite: its columns, then hidden ones.
struct TableDeclaration {
    let name: String
    let columns: [ColumnSchema]
    /// The names of hidden columns, by purpose.
    private(set) var hidden: [Hidden] = []
    let hasRowID: Bool

    enum Hidden: String, CaseIterable {
        /// The table's own name, the left side of MATCH in a search.
        case words
        case asOf = "as_of"
        case checkpoint
        /// Identifies the row.
        case rowKey = "row_key"
    }

    /// - Parameter hidden: those that the table has; one whose name a column has is left out, unless rows need it.
    init(_ name: String, _ columns: [ColumnSchema], hidden: [Hidden], hasRowID: Bool) {
        var names = UniqueNames()
        var columns = columns
        for index in columns.indices { columns[index].name = names.unique(columns[index].name) }
        (self.name, self.columns, self.hasRowID) = (name, columns, hasRowID)
        self.hidden = hidden.filter { $0 == .rowKey || !names.contains($0 == .words ? name : $0.rawValue) }
    }

    var columnCount: Int { columns.count + hidden.count }

    func hidden(_ column: Int) -> Hidden? {
        let place = column - columns.count
        return hidden.indices.contains(place) ? hidden[place] : nil
    }

    func name(_ column: Int) -> String {
        if columns.indices.contains(column) { return columns[column].name }
        return hidden(column).map { $0 == .words ? name : $0.rawValue } ?? "rowid"
    }

    var text: String {
        var parts = columns.map { "\(Self.quoted($0.name)) \($0.type.sqlName)" }
        for column in hidden {
            switch column {
            case .words: parts.append("\(Self.quoted(name)) HIDDEN")
            case .asOf: parts.append("as_of HIDDEN")
            case .checkpoint: parts.append("checkpoint INTEGER HIDDEN")
            case .rowKey: parts.append("\(Self.quoted(rowKeyName)) BLOB HIDDEN PRIMARY KEY NOT NULL")
            }
        }
        return "CREATE TABLE x(\(parts.joined(separator: ", ")))" + (hasRowID ? "" : " WITHOUT ROWID")
    }

    private var rowKeyName: String {
        var name = Hidden.rowKey.rawValue
        while columns.contains(where: { $0.name.lowercased() == name }) { name += "_" }
        return name
    }

    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}

extension ColumnType {
    /// The type's name in SQLite.
    var sqlName: String {
        switch self {
        case .bool, .int32, .int64, .uint32, .uint64, .seconds: "INTEGER"
        case .float32, .float64, .microseconds: "REAL"
        case .utf8, .json, .dictionary, .list: "TEXT"
        case .binary: "BLOB"
        }
    }
}

extension ColumnSchema {
    /// The type of its values in SQL.
    package var sqlType: String { type.sqlName }

    /// In SQL, times are numbers.
    package var sqlUnit: String {
        switch type {
        case .seconds, .microseconds: "s since 1970"
        default: unit ?? ""
        }
    }
}
