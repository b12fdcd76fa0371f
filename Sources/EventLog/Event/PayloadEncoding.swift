/// What kind of bytes an event's payload is. Numbers below 16 belong to the log, the others to its callers.
public struct PayloadEncoding: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Says how many events a source had to drop and when: see `Gap`.
    public static let gap = PayloadEncoding(rawValue: 1)
    /// Text in UTF-8 that a user left in the log.
    public static let note = PayloadEncoding(rawValue: 2)
    /// Says which events were erased, and why: see `Erasure`. Only the log itself writes these.
    public static let erasure = PayloadEncoding(rawValue: 3)
    /// Says which events retention has dropped: see `Retention`. Only the log itself writes these.
    public static let retention = PayloadEncoding(rawValue: 4)

    /// Says that the clock jumped: see `ClockJump`. Only the log itself writes these.
    public static let clockJump = PayloadEncoding(rawValue: 5)

    /// Whether only the log itself may write events of this kind under its own name.
    var isOfLog: Bool { self == .erasure || self == .retention || self == .clockJump }
}
