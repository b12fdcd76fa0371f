/// Where events come from, as a number that the log gave to the source's name. 0 is the log itself.
public struct SourceID: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The log itself: notes, and gaps of no known source.
    public static let log = SourceID(rawValue: 0)
}

/// A source of events and the name under which its number was requested.
public struct EventSource: Sendable, Hashable {
    public let id: SourceID
    public let name: String
    /// When the log first heard of it.
    public let created: Timestamp
}
