/// An index over rows: up to four of their properties, each ascending or descending. Each row has its own entry, even among rows with the same
/// values.
///
/// ```swift
/// extension MessageRow {
///     static let indexes: [RowIndex<MessageRow>] = [.index(\.from, \.time), .index(.ascending(\.port), .descending(\.time))]
/// }
/// ```
/// A query uses it if its predicate bounds the first properties, or its order is the index's. After the declared properties an entry has
/// those of the row's key, so these also bound it. A property of it is a column whose type conforms to `IndexValue`: a ledger whose views declare others is
/// refused with `LedgerError.schema`.
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

    init(_ parts: [Part]) { self.parts = parts }

    /// Why no entries can be made for it; nil if they can.
    package var fault: String? {
        guard (1...4).contains(parts.count) else { return "an index has \(parts.count) properties; 1 to 4 are possible" }
        var columns = Row.columns.filter(\.isKey)
        for part in parts {
            guard let column = Row.columns.first(where: { $0.isOf(part.keyPath) }) else {
                return "an index names a property that is not one of its columns: \(part.keyPath)"
            }
            guard column.code != nil else { return "an index names \(column.name), whose type does not conform to IndexValue" }
            if !columns.contains(where: { $0.name == column.name }) { columns.append(column) }
        }
        let length = columns.reduce(0) { $0 + ($1.code?.widths.reduce(0, +) ?? 0) }
        return length <= 511 ? nil : "an entry of an index has \(length) bytes; at most 511 are possible"
    }
}
