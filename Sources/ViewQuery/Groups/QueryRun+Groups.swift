package import LMDB
package import Projections

extension QueryRun {
    /// The groups of rows that have the same value, in the order of their first rows. Memory grows with the groups, not with the rows.
    package func groups<Key: Hashable & Sendable>(
        in store: ViewStore, _ transaction: borrowing ReadTransaction, by key: @Sendable (borrowing Row) -> Key,
        _ aggregates: [Aggregate<Row>]
    ) throws -> [QueryGroup<Key>] {
        var places: [Key: Int] = [:]
        var (keys, groups): ([Key], [Aggregation<Row>]) = ([], [])
        try forEach(in: store, transaction) { row in
            let key = key(row)
            if let place = places[key] {
                groups[place].add(row)
            } else {
                places[key] = groups.count
                keys.append(key)
                var group = Aggregation(aggregates)
                group.add(row)
                groups.append(group)
            }
        }
        return zip(keys, groups).map { QueryGroup(key: $0, count: $1.count, values: $1.values) }
    }

    /// The rows' aggregates by spans of time, in the order of time.
    ///
    /// - Parameters:
    ///   - includesEmpty: whether to include spans between the first and the last that have no row; their number is limited.
    /// - Throws: `.unsupported` for more than a million spans.
    package func buckets(
        in store: ViewStore, _ transaction: borrowing ReadTransaction, by width: BucketWidth,
        time: @Sendable (borrowing Row) -> Int64, _ aggregates: [Aggregate<Row>], includesEmpty: Bool
    ) throws -> [TimeBucket] {
        let groups = try groups(in: store, transaction, by: { width.index(of: time($0)) }, aggregates).sorted { $0.key < $1.key }
        func bucket(_ index: Int64, _ count: Int, _ values: [Double?]) -> TimeBucket {
            TimeBucket(start: width.start(of: index), end: width.end(of: index), count: count, values: values)
        }
        let filled = groups.map { bucket($0.key, $0.count, $0.values) }
        guard includesEmpty, let first = groups.first?.key, let last = groups.last?.key else { return filled }
        let (spans, isCut) = last.subtractingReportingOverflow(first)
        guard !isCut, spans < 1_000_000 else {
            throw QueryError(
                .unsupported, "there are more than a million spans between the first row and the last; use longer ones")
        }
        let nothing = Aggregation(aggregates).values
        var (all, place): ([TimeBucket], Int) = ([], 0)
        for index in first...last {
            if groups[place].key == index {
                all.append(filled[place])
                place += 1
            } else {
                all.append(bucket(index, 0, nothing))
            }
        }
        return all
    }

    /// The distinct values of the rows, in the order in which they first occur.
    package func distinct<Value: Hashable>(
        in store: ViewStore, _ transaction: borrowing ReadTransaction, _ value: (borrowing Row) -> Value
    ) throws -> [Value] {
        var (seen, values): (Set<Value>, [Value]) = ([], [])
        try forEach(in: store, transaction) { row in
            let value = value(row)
            if seen.insert(value).inserted { values.append(value) }
        }
        return values
    }
}

extension QueryRow {
    /// Reads a property, with the column's own fast closure if the key path belongs to a column.
    public static func getter<Value>(_ keyPath: any KeyPath<Self, Value> & Sendable) -> @Sendable (borrowing Self) -> Value {
        let layouts = RowLayouts<Self>.shared
        let column = layouts.numbers.number(of: keyPath).map { layouts.columns[$0] }
        if let getter = column?.getter as? Getter<Self, Value> { return getter.get }
        return { row in (copy row)[keyPath: keyPath] }
    }

    /// Reads the property of this name; nil if no property has this name and type.
    public static func column<Value>(named name: String) -> (@Sendable (borrowing Self) -> Value)? {
        (columns.first { $0.name == name }?.getter as? Getter<Self, Value>)?.get
    }

    /// The error for a question about time that cannot be answered.
    public static var withoutTime: QueryError {
        QueryError(.unsupported, "rows of \(view) have no property `time`; name the one that contains their time")
    }
}
