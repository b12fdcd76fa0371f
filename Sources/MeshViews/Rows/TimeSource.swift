/// Where a row's time comes from.
public enum TimeSource: UInt8, Sendable, CaseIterable, Codable {
    /// The sender's own stamp: a GPS fix, or the time it put into the payload.
    case sender = 1
    /// The receiving node's clock (`rx_time`).
    case receiver = 2
    /// The reception time that an imported file recorded.
    case recorded = 3
    /// When it arrived here.
    case arrival = 4
}
