/// Where a row's time comes from.
///
/// A time that is known wins over one of an import, in whatever order they come: that is shown only where there is no other.
public enum TimeSource: UInt8, Sendable, CaseIterable, Codable {
    /// The sender's own stamp: a GPS fix, or the time it put into the payload.
    case sender = 1
    /// The receiving node's clock (`rx_time`).
    case receiver = 2
    /// The reception time that an imported file recorded.
    case recorded = 3
    /// When it arrived here, live.
    case arrival = 4
    /// When it was imported: nothing says when it was heard.
    case `import` = 5
}
