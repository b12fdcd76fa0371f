public import EventLog

/// A point of the history at which a ledger is read.
public enum Moment: Sendable, Hashable {
    /// After this event.
    case sequence(UInt64)
    /// After the last event that had arrived by then.
    case time(Timestamp)
}
