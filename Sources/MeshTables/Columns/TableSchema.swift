/// A table as other programs see it: its name, and its columns in order.
public struct TableSchema: Sendable, Hashable {
    public var name: String
    public var columns: [ColumnSchema]

    public init(name: String, columns: [ColumnSchema]) {
        self.name = name
        self.columns = columns
    }
}

/// A column as other programs see it.
public struct ColumnSchema: Sendable, Hashable {
    /// In snake case, as in JSON lines.
    public var name: String
    public var type: ColumnType
    public var isNullable: Bool
    /// Such as `dB`; nil for values without a unit.
    public var unit: String?
    /// One sentence; empty if the name says enough.
    public var meaning: String

    public init(_ name: String, _ type: ColumnType, isNullable: Bool = true, unit: String? = nil, meaning: String = "") {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.unit = unit
        self.meaning = meaning
    }
}
