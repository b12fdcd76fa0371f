public import ViewQuery

/// A row of one of the views that this library makes.
public protocol ViewRow: QueryRow {
    /// What such a row is of, where rows of several kinds are listed: `waypoint`.
    static var kind: String { get }
    /// When it was, or was changed last; seconds since 1970.
    var time: UInt32 { get }
    /// The event that it was made by, or changed last.
    var sequence: UInt64 { get }
}

extension ViewRow {
    public var kind: String { Self.kind }
}
