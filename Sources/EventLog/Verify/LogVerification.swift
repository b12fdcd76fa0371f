/// The result of a check of the whole log.
public struct LogVerification: Sendable, Equatable {
    /// Something that is not as it was stored.
    public struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// Zero if it does not concern one event.
        public let sequence: EventSequence
        public let text: String

        public var description: String { sequence == .zero ? text : "event \(sequence): \(text)" }
    }

    public internal(set) var eventsChecked = 0
    /// Events that retention has dropped, of which the tree's hashes were checked.
    public internal(set) var eventsDropped: UInt64 = 0
    public internal(set) var payloadBytes = 0
    /// The first problems, at most 1,000.
    public internal(set) var problems: [Problem] = []
    public internal(set) var problemCount = 0

    public var isIntact: Bool { problemCount == 0 }

    mutating func add(_ finding: TileFinding) {
        eventsChecked += finding.eventsChecked
        payloadBytes += finding.payloadBytes
        for problem in finding.problems { add(problem.sequence.rawValue, problem.text) }
    }

    mutating func add(_ sequence: UInt64, _ text: @autoclosure () -> String) {
        problemCount += 1
        if problems.count < 1000 { problems.append(Problem(sequence: EventSequence(sequence), text: text())) }
    }
}

/// The progress of a check.
public struct LogVerificationProgress: Sendable {
    public let checked: Int
    public let total: Int
}
