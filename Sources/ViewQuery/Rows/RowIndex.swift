/// An index over rows: up to four of their properties, each ascending or descending. Each row has its own entry, even among rows with the same
/// values.
///
/// ```swift
/// extension MessageRow {
///     static let indexes: [RowIndex<MessageRow>] = [.index(\.from, \.time), .index(.ascending(\.port), .descending(\.time))]
/// }
/// ```
/// A query uses it if its predicate bounds the first properties, or its order is the index's. After the declared properties an entry has
/// those of the row's key, so these also bound it.
public struct RowIndex<Row: QueryRow>: Sendable {
    /// A property and its direction.
    public struct Part: Sendable {
        let keyPath: any PartialKeyPath<Row> & Sendable
        let isDescending: Bool

        public static func ascending(_ property: any PartialKeyPath<Row> & Sendable) -> Part {
            Part(keyPath: property, isDescending: false)
        }

        public static func descending(_ property: any PartialKeyPath<Row> & Sendable) -> Part {
            Part(keyPath: property, isDescending: true)
        }
    }

    let parts: [Part]

    /// An index whose properties all ascend; it also serves descending order, read backwards.
    public static func index(_ properties: any PartialKeyPath<Row> & Sendable...) -> RowIndex {
        RowIndex(properties.map { .ascending($0) })
    }

    /// An index of mixed order.
    public static func index(_ parts: Part...) -> RowIndex { RowIndex(parts) }

    init(_ parts: [Part]) {
        precondition((1...4).contains(parts.count), "an index of \(Row.self) has \(parts.count) properties; 1 to 4 are possible")
        self.parts = parts
    }
}
