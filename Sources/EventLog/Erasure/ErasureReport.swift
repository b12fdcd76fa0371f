/// What an erasure did.
public struct ErasureReport: Sendable, Equatable {
    /// The events that record it; empty where everything was erased already.
    public let events: [EventSequence]
    /// How many events were erased now.
    public let erased: UInt64

    package init(events: [EventSequence], erased: UInt64) {
        self.events = events
        self.erased = erased
    }
}
