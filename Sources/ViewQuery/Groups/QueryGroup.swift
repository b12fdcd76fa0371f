/// The rows that share a value, and their aggregates.
public struct QueryGroup<Key: Sendable>: Sendable {
    public let key: Key
    /// The number of its rows.
    public let count: Int
    /// One for each aggregate, in the requested order.
    public let values: [Double?]

    /// The value of an aggregate, by its index.
    public subscript(aggregate: Int) -> Double? { values[aggregate] }
}

extension QueryGroup: Equatable where Key: Equatable {}

/// A span of time and the aggregates of its rows.
public struct TimeBucket: Sendable, Equatable {
    /// Seconds since 1970: the start is included, the end is not.
    public let start: Int64
    public let end: Int64
    public let count: Int
    /// One for each aggregate, in the requested order.
    public let values: [Double?]
}

/// The length of the spans that rows are grouped by; they begin at multiples of it since 1970, shifted by `offset` seconds (for example of a time zone).
public struct BucketWidth: Sendable, Equatable {
    /// At least 1.
    public let seconds: Int64
    public let offset: Int64

    public init(seconds: Int64, offset: Int64 = 0) {
        self.seconds = max(1, seconds)
        self.offset = offset
    }

    public static func seconds(_ count: Int64) -> BucketWidth { BucketWidth(seconds: count) }
    public static func minutes(_ count: Int64) -> BucketWidth { BucketWidth(seconds: count.multipliedClamped(by: 60)) }
    public static func hours(_ count: Int64) -> BucketWidth { BucketWidth(seconds: count.multipliedClamped(by: 3_600)) }
    /// Days in UTC, unless shifted.
    public static func days(_ count: Int64, offset: Int64 = 0) -> BucketWidth {
        BucketWidth(seconds: count.multipliedClamped(by: 86_400), offset: offset)
    }

    /// The number of the bucket that a time belongs to.
    func index(of time: Int64) -> Int64 {
        let moved = time.subtractingReportingOverflow(offset)
        let inner = moved.overflow ? (offset < 0 ? Int64.max : .min) : moved.partialValue
        let (quotient, rest) = inner.quotientAndRemainder(dividingBy: seconds)
        return rest < 0 ? quotient - 1 : quotient
    }

    func start(of index: Int64) -> Int64 { index.multipliedClamped(by: seconds).addedClamped(offset) }
    func end(of index: Int64) -> Int64 { start(of: index).addedClamped(seconds) }
}

extension Int64 {
    fileprivate func multipliedClamped(by other: Int64) -> Int64 {
        let (product, isCut) = multipliedReportingOverflow(by: other)
        return isCut ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    fileprivate func addedClamped(_ other: Int64) -> Int64 {
        let (sum, isCut) = addingReportingOverflow(other)
        return isCut ? (other > 0 ? .max : .min) : sum
    }
}
