import LMDB
import MeshViews
import Projections
public import ViewQuery

extension Ledger {
    /// The aggregates of the query's rows for each value of a property, in the order in which the values first occur.
    ///
    /// ```swift
    /// let groups = try ledger.grouped(FetchDescriptor<MessageRow>(), by: \.channel, [.count, .mean(\.receptions), .max(\.time)])
    /// for group in groups { print(group.key, group.count, group[1] ?? 0) }
    /// ```
    /// Read in one consistent view. Memory grows with the groups, not with the rows.
    /// - Throws: as `fetch`.
    public func grouped<Row: QueryRow, Key: Hashable & Sendable>(
        _ descriptor: FetchDescriptor<Row>, by property: any KeyPath<Row, Key> & Sendable, _ aggregates: [Aggregate<Row>] = []
    ) throws(LedgerError) -> [QueryGroup<Key>] {
        try grouped(descriptor, by: Row.getter(property), aggregates)
    }

    /// The same, by a value that is computed from each row.
    /// - Throws: as `fetch`.
    public func grouped<Row: QueryRow, Key: Hashable & Sendable>(
        _ descriptor: FetchDescriptor<Row>, by key: @escaping @Sendable (borrowing Row) -> Key,
        _ aggregates: [Aggregate<Row>] = []
    ) throws(LedgerError) -> [QueryGroup<Key>] {
        try answering(descriptor) { run, store in
            try run.groups(in: store, store.environment.beginRead(), by: key, aggregates)
        }
    }

    /// The aggregates of the query's rows in each span of time, for charts, in the order of time.
    ///
    /// ```swift
    /// let hours = try ledger.bucketed(FetchDescriptor<PositionRow>(), by: .hours(1), [.count, .mean(\.snr)], includesEmpty: true)
    /// ```
    /// A row's time is its property `time`, in seconds since 1970.
    ///
    /// - Parameter includesEmpty: whether to include spans without a row between the first and the last that have one.
    /// - Throws: `.query` if the row has no such property, or for more than a million spans.
    public func bucketed<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>, by width: BucketWidth, _ aggregates: [Aggregate<Row>] = [],
        includesEmpty: Bool = false
    ) throws(LedgerError) -> [TimeBucket] {
        guard let time: @Sendable (borrowing Row) -> UInt32 = Row.column(named: "time") else {
            throw LedgerError(Row.withoutTime, path: path)
        }
        return try buckets(descriptor, width, time, aggregates, includesEmpty)
    }

    /// The same, by another property with the time of a row.
    /// - Throws: as `fetch`.
    public func bucketed<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>, by width: BucketWidth, time: any KeyPath<Row, UInt32> & Sendable,
        _ aggregates: [Aggregate<Row>] = [], includesEmpty: Bool = false
    ) throws(LedgerError) -> [TimeBucket] {
        try buckets(descriptor, width, Row.getter(time), aggregates, includesEmpty)
    }

    private func buckets<Row: QueryRow>(
        _ descriptor: FetchDescriptor<Row>, _ width: BucketWidth, _ time: @escaping @Sendable (borrowing Row) -> UInt32,
        _ aggregates: [Aggregate<Row>], _ includesEmpty: Bool
    ) throws(LedgerError) -> [TimeBucket] {
        try answering(descriptor) { run, store in
            try run.buckets(
                in: store, store.environment.beginRead(), by: width, time: { Int64(time($0)) }, aggregates,
                includesEmpty: includesEmpty)
        }
    }
}
