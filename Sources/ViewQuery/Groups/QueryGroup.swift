/// What some rows have in common, and what was calculated from them.
public struct QueryGroup<Key: Sendable>: Sendable {
    public let key: Key
    /// How many rows it has.
    public let count: Int
    /// One for each aggregate, in the order in which they were asked for.
    public let values: [Double?]

    /// The value of an aggregate, by its place.
    public subscript(aggregate: Int) -> Double? { values[aggregate] }
}

extension QueryGroup: Equatable where Key: Equatable {}

/// A span of time and what was calculated from its rows.
public struct TimeBucket: Sendable, Equatable {
    /// Seconds since 1970: from the first on, before the second.
    public let start: Int64
    public let end: Int64
    public let count: Int
    /// One for each aggregate, in the order in which they were asked for.
    public let values: [Double?]
}

/// How long the spans are that rows are put into; they begin at multiples of it since 1970, moved by `offset` seconds (of a time zone, say).
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
    /// Days of UTC, unless moved.
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
