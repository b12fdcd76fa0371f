/// A row of a view that was stored or removed.
public struct ViewChange: Sendable, Hashable {
    /// Ascends from change to change of the view.
    public let number: UInt64
    public let table: String
    public let key: [UInt8]
    /// The row as it is now, which may reflect a later change; nil if it was removed.
    public let value: [UInt8]?

    public init(number: UInt64, table: String, key: [UInt8], value: [UInt8]?) {
        (self.number, self.table, self.key, self.value) = (number, table, key, value)
    }
}

/// How far a consumer has read the changes of a view.
public struct ChangePosition: Sendable, Hashable, Codable {
    /// The feed that the numbers belong to: a view that was lost, or rebuilt after an erasure, begins a new one.
    public var feed: UInt64
    /// The last change.
    public var number: UInt64

    public init(feed: UInt64, number: UInt64) {
        self.feed = feed
        self.number = number
    }
}
