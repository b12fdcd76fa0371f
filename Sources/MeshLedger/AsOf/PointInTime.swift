public import EventLog

/// A point of the history at which a ledger is read.
public enum PointInTime: Sendable, Hashable {
    /// After this event.
    case sequence(UInt64)
    /// A time of the mesh: after everything that had been heard by then, as a ledger that listened would have shown it, in whatever order recordings were
    /// imported into this one.
    case time(Timestamp)
    /// After the last event that had arrived in this ledger by then.
    case arrival(Timestamp)
}
