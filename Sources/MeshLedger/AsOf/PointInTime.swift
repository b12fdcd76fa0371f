public import EventLog

/// A point in history as of which a ledger is read.
public enum PointInTime: Sendable, Hashable {
    /// After this event.
    case sequence(UInt64)
    /// A time of the mesh: after everything that had been heard by then, as a listening ledger would have shown it, regardless of the order in which
    /// recordings were imported into this one.
    case time(Timestamp)
    /// After the last event that had arrived in this ledger by then.
    case arrival(Timestamp)
}
