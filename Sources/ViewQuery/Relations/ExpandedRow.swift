internal import ProtobufWire

/// How much of related rows is included at one depth.
public enum ExpansionDepth: Sendable, Hashable, CaseIterable {
    /// All properties of the rows.
    case rows
    /// The key, and the properties by which people distinguish the rows.
    case fragments
    /// The key.
    case ids
}

/// A row with the rows that are related to it, for output.
public struct ExpandedRow: Sendable, Equatable {
    /// The rows that one relation leads to.
    public struct Related: Sendable, Equatable, Codable {
        public let name: String
        /// Whether it leads to at most one row.
        public let isToOne: Bool
        public let rows: [ExpandedRow]

        public init(name: String, isToOne: Bool, rows: [ExpandedRow]) {
            (self.name, self.isToOne, self.rows) = (name, isToOne, rows)
        }
    }

    public let view: String
    /// The names and JSON texts of the properties at this depth.
    public internal(set) var values: [(name: String, json: String)]
    public var relations: [Related] = []

    /// - Parameter fragment: names of properties that are included besides the key at the depth `.fragments`.
    public init<Row: QueryRow>(_ row: Row, _ depth: ExpansionDepth, fragment: [String]) {
        view = Row.view
        values = Row.columns.filter { column in
            switch depth {
            case .rows: true
            case .fragments: column.isKey || fragment.contains(column.name)
            case .ids: column.isKey
            }
        }.map { ($0.name, $0.json(of: row)) }
    }

    /// Leaves out all properties but these.
    public mutating func keep(_ names: [String]) { values.removeAll { !names.contains($0.name) } }

    /// A row that is not in a view's table.
    public init(view: String, values: [(name: String, value: Any)]) {
        self.view = view
        self.values = values.map { ($0.name, JSONText.text(of: $0.value)) }
    }

    /// One JSON object: the properties in the order of the row's columns, then the relations by name.
    public var json: String {
        let own = values.map { JSONText.quoted($0.name) + ":" + $0.json }
        let others = relations.map { related in
            let texts = related.rows.map(\.json)
            return JSONText.quoted(related.name) + ":"
                + (related.isToOne ? texts.first ?? "null" : "[" + texts.joined(separator: ",") + "]")
        }
        return "{" + (own + others).joined(separator: ",") + "}"
    }

    public static func == (left: ExpandedRow, right: ExpandedRow) -> Bool { left.view == right.view && left.json == right.json }
}
