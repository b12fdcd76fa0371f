/// The result of an erasure.
public struct ErasureReport: Sendable, Equatable {
    /// The events that record it; empty if everything was erased already.
    public let events: [EventSequence]
    /// How many events this call erased.
    public let erased: UInt64

    package init(events: [EventSequence], erased: UInt64) {
        self.events = events
        self.erased = erased
    }
}
