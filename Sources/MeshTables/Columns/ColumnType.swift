/// The type of a column's values, the same in every format.
public indirect enum ColumnType: Sendable, Hashable {
    case bool, int32, int64, uint32, uint64, float32, float64
    case utf8
    /// A nested value, as JSON text.
    case json
    case binary
    /// Whole seconds since 1970, in UTC.
    case seconds
    /// Microseconds since 1970, in UTC.
    case microseconds
    /// A text with few distinct values: names, ids of nodes, cases of enumerations.
    case dictionary
    /// Lists of values, none of them null.
    case list(ColumnType)
}
