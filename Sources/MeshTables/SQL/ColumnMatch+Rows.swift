internal import EventLog
internal import MeshLedger
internal import Meshtastic
internal import ViewQuery

extension ColumnMatch {
    /// How a column of a table that shows a property is compared; nil where the property's numbers do not find it.
    init?<Row: QueryRow>(_ column: ColumnSchema, showing property: RowColumn<Row>) {
        guard let bounds = property.bounds else { return nil }
        switch column.type {
        case .dictionary where property.kind == .node: self.init(node: bounds)
        case .dictionary, .utf8:
            let isName = property.valueType is any CaseIterable.Type
            guard isName || property.valueType == String.self else { return nil }
            self.init(bounds: bounds, isOrdered: false) { constant in
                if case .text(let text) = constant { .constant(.text(text)) } else { .unknown }
            }
        case .bool, .int32, .int64, .uint32, .uint64, .seconds:
            guard property.valueType != String.self, !(property.valueType is any CaseIterable.Type) else { return nil }
            self.init(numbers: bounds)
        case .float32, .float64, .json, .binary, .microseconds, .list: return nil
        }
    }

    /// Numbers are compared with texts that look like numbers, too: those are left to SQLite.
    private init(numbers bounds: ColumnBounds) {
        self.init(bounds: bounds, isOrdered: bounds.isComparable) { constant in
            switch constant {
            case .integer(let number): .constant(.integer(number))
            case .real(let number): .constant(.real(number))
            case .text, .bytes, .null: .unknown
            }
        }
    }

    /// Ids have eight digits, so that their order is that of the numbers.
    private init(node bounds: ColumnBounds) {
        let points = ColumnBounds(isComparable: false) { test, constant in test == .equal ? bounds.numbers(test, constant) : nil }
        self.init(bounds: points, isOrdered: bounds.isComparable) { constant in
            guard case .text(let text) = constant else { return .unknown }
            return NodeID.parse(text).map { .constant(.integer(Int64($0))) } ?? .nothing
        }
    }
}

/// What a column of a table is made of.
enum ShownProperty {
    /// The names of properties where a column's is another one.
    private static let renamed = ["nodes.node": "number", "hardware.number": "model"]
    /// Further properties from which a column is made.
    private static let further = [
        "snr": ["rssi"], "messages.state": ["failureReason"], "mapreports.altitude": ["latitude"],
        "traceroutes.reply_id": ["isAnswered"],
    ]
    /// Columns that are made from many properties.
    private static let mixed: Set<String> = ["nodes.role"]
    /// Columns that depend on more than the row: on names, or on the present time.
    static let contextual: Set<String> = ["name", "from_name", "source", "sources", "state", "older_recipe", "path"]

    static func of<Row: QueryRow>(_ column: String, _ rows: Row.Type) -> Int? {
        let wanted = renamed["\(Row.table).\(column)"]
        return Row.columns.firstIndex { wanted == nil ? GenericTable.name($0.name) == column : $0.name == wanted }
    }

    /// The row columns that a column needs; nil where that is not known.
    static func needed<Row: QueryRow>(_ column: String, _ rows: Row.Type) -> [Int]? {
        guard !mixed.contains("\(Row.table).\(column)"), let shown = of(column, rows) else { return nil }
        let more = further["\(Row.table).\(column)"] ?? further[column] ?? []
        return [shown] + more.compactMap { name in Row.columns.firstIndex { $0.name == name } }
    }
}
