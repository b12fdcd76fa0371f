package import EventLog

/// An event that a view could not fold, and why.
package struct Quarantined: Sendable, Equatable {
    package var sequence: EventSequence
    package var reason: String

    package init(sequence: EventSequence, reason: String) {
        self.sequence = sequence
        self.reason = reason
    }
}
