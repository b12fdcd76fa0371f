/// When the event was received, as far as known.
public enum Reception: Sendable, Hashable {
    /// When it arrived: the log heard it live.
    case live
    /// At a time that a recording states.
    case recorded(Timestamp)
    /// At an unknown time: the event comes from a recording without times.
    case unrecorded
}
