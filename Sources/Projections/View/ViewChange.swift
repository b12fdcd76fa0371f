/// A row of a view that was stored or removed.
public struct ViewChange: Sendable, Hashable {
    /// Rises from change to change of the view.
    public let number: UInt64
    public let table: String
    public let key: [UInt8]
    /// The row as it is now, which may be of a later change; nil where it is gone.
    public let value: [UInt8]?

    public init(number: UInt64, table: String, key: [UInt8], value: [UInt8]?) {
        (self.number, self.table, self.key, self.value) = (number, table, key, value)
    }
}

/// How far somebody has read the changes of a view.
public struct ChangePosition: Sendable, Hashable, Codable {
    /// Which run of numbers it is of: a view that was lost, or made anew after an erasure, begins another.
    public var feed: UInt64
    /// The last change.
    public var number: UInt64

    public init(feed: UInt64, number: UInt64) {
        self.feed = feed
        self.number = number
    }
}
