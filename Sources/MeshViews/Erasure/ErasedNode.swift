/// A node whose rows are removed from the baselines of dropped events when its events are erased.
public struct ErasedNode: Sendable, Hashable {
    public var number: UInt32
    /// Whether messages to it are removed, too.
    public var includesMentions: Bool

    public init(_ number: UInt32, includesMentions: Bool = false) {
        self.number = number
        self.includesMentions = includesMentions
    }
}
