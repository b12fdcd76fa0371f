/// The kind of bytes that an event's payload contains. Numbers below 16 belong to the log, the others to its callers.
public struct PayloadEncoding: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Records how many events a source had to drop and when: see `Gap`.
    public static let gap = PayloadEncoding(rawValue: 1)
    /// A user's note: text in UTF-8.
    public static let note = PayloadEncoding(rawValue: 2)
    /// Records which events were erased, and why: see `Erasure`. Only the log itself writes these.
    public static let erasure = PayloadEncoding(rawValue: 3)
    /// Records which events retention has dropped: see `Retention`. Only the log itself writes these.
    public static let retention = PayloadEncoding(rawValue: 4)

    /// Records a jump of the clock: see `ClockJump`. Only the log itself writes these.
    public static let clockJump = PayloadEncoding(rawValue: 5)

    /// Whether only the log itself may write events of this kind under its own name.
    var isOfLog: Bool { self == .erasure || self == .retention || self == .clockJump }
}
