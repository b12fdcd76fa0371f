/// The number of an event in its log, from 1 without gaps. `zero` precedes the first event.
public struct EventSequence: RawRepresentable, Sendable, Hashable, Comparable, Codable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    public static let zero = EventSequence(0)

    public static func < (left: EventSequence, right: EventSequence) -> Bool { left.rawValue < right.rawValue }
}

extension EventSequence: Strideable, CustomStringConvertible {
    public func distance(to other: EventSequence) -> Int {
        Int(truncatingIfNeeded: Int64(bitPattern: other.rawValue &- rawValue))
    }

    public func advanced(by count: Int) -> EventSequence {
        EventSequence(rawValue &+ UInt64(bitPattern: Int64(count)))
    }

    public var description: String { String(rawValue) }
}

extension [ClosedRange<EventSequence>] {
    /// Adds a run that begins after all others, as part of the last one where it follows it without a gap.
    package mutating func join(_ run: ClosedRange<EventSequence>) {
        if let last, last.upperBound.advanced(by: 1) == run.lowerBound {
            self[count - 1] = last.lowerBound...run.upperBound
        } else {
            append(run)
        }
    }
}
