public import ViewQuery

/// A row of one of the built-in views.
public protocol ViewRow: QueryRow {
    /// The kind of such a row in lists of several kinds: `waypoint`.
    static var kind: String { get }
    /// When it was made, or last changed; seconds since 1970.
    var time: UInt32 { get }
    /// The event that made it, or last changed it.
    var sequence: UInt64 { get }
}

extension ViewRow {
    public var kind: String { Self.kind }

    /// The time, or 0 where only that of an import is known.
    package var knownTime: UInt32 { (self as? any KeyedRow)?.age ?? time }
}
