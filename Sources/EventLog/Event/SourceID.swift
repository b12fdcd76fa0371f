/// Identifies a source of events by the number that the log assigned to its name. 0 is the log itself.
public struct SourceID: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The log itself: notes, and gaps of no known source.
    public static let log = SourceID(rawValue: 0)
}

/// A source of events and its name.
public struct EventSource: Sendable, Hashable {
    public let id: SourceID
    public let name: String
    /// When the log first saw it.
    public let created: Timestamp
}
