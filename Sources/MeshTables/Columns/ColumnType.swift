/// The type of a column's values, in every format alike.
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
    /// A text of which there are few different ones: names, ids of nodes, cases of enumerations.
    case dictionary
    /// Values without nulls among them.
    case list(ColumnType)
}
