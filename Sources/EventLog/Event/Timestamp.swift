public import Foundation
internal import Glibc

/// A point in time: microseconds since 1970-01-01 UTC.
public struct Timestamp: Sendable, Hashable, Comparable, Codable {
    public let microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// - Parameter seconds: whole seconds since 1970; clamped to the range of microseconds.
    public init(seconds: Int64) {
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        microseconds = overflows ? (seconds < 0 ? .min : .max) : product
    }

    public init(_ date: Date) {
        let value = date.timeIntervalSince1970 * 1_000_000
        microseconds = Int64(exactly: value.rounded()) ?? (value < 0 ? .min : .max)
    }

    /// The present time by the system's clock.
    public static var now: Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec) / 1000)
    }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 { microseconds / 1_000_000 - (microseconds % 1_000_000 < 0 ? 1 : 0) }

    public var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }

    /// The point in time that many seconds later, or earlier if negative; clamped to the representable range.
    public func adding(seconds: Int64) -> Timestamp {
        let (sum, overflows) = microseconds.addingReportingOverflow(Timestamp(seconds: seconds).microseconds)
        return Timestamp(microseconds: overflows ? (seconds < 0 ? .min : .max) : sum)
    }
}
