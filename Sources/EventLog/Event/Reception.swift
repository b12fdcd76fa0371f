/// When the event was received, as far as anyone knows.
public enum Reception: Sendable, Hashable {
    /// When it arrived: the log heard it live.
    case live
    /// At a time that a recording tells.
    case recorded(Timestamp)
    /// At an unknown time: it comes from a recording without times.
    case unrecorded
}
