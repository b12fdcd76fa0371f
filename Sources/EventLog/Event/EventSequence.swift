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
