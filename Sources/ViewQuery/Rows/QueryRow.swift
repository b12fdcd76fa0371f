package import Projections
internal import Synchronization

/// A row of a view that can be fetched by a `FetchDescriptor`.
public protocol QueryRow: Sendable {
    /// The view that keeps the rows, and the table in it.
    static var view: String { get }
    static var table: String { get }
    /// The properties that predicates, sort descriptors and indexes may name: first those that make up the key, in its order, then the others.
    static var columns: [RowColumn<Self>] { get }
    /// How rows can be found other than by the key without reading every row; by default no indexes. Each costs time with every change of a row.
    /// Changed indexes are built from the rows at the next start.
    static var indexes: [RowIndex<Self>] { get }
    /// The texts that `TextQuery` may search; by default none.
    static var texts: [RowText<Self>] { get }
    /// The combinations of values that only one current row may have; by default none. Each has a separate index.
    static var uniques: [UniqueRule<Self>] { get }

    /// How archived rows are recognised, which queries leave out unless requested; nil if rows cannot be archived.
    static var archive: RowArchive<Self>? { get }

    /// - Returns: nil if the bytes are not a row.
    init?(key: RawSpan, value: RawSpan)

    /// Calls `visit` with the row of these bytes.
    ///
    /// Do not implement it. It is a requirement so that each row type has its own version: `init` of an unknown type would look up
    /// its metadata for each row.
    ///
    /// - Returns: false if the bytes are not a row.
    static func read(_ key: RawSpan, _ value: RawSpan, _ visit: (borrowing Self) -> Void) -> Bool

    /// Decodes a row and appends it to an array. The default is called on the row's type, so that it is compiled for exactly that type.
    /// - Returns: false if the bytes are not a row.
    static func append(key: RawSpan, value: RawSpan, to rows: inout [Self]) -> Bool
}

extension QueryRow {
    @inlinable
    public static func read(_ key: RawSpan, _ value: RawSpan, _ visit: (borrowing Self) -> Void) -> Bool {
        guard let row = Self(key: key, value: value) else { return false }
        visit(row)
        return true
    }

    public static var indexes: [RowIndex<Self>] { [] }
    public static var texts: [RowText<Self>] { [] }
    public static var uniques: [UniqueRule<Self>] { [] }
    public static var archive: RowArchive<Self>? { nil }

    @inlinable
    public static func append(key: RawSpan, value: RawSpan, to rows: inout [Self]) -> Bool {
        guard let row = Self(key: key, value: value) else { return false }
        rows.append(row)
        return true
    }

    /// The declared indexes as a view's store keeps them: one table of rows, or an empty array without indexes.
    package static var indexedTables: [IndexedTable] { RowLayouts<Self>.shared.indexed.map { [$0] } ?? [] }
}

/// The key of a row and those of its indexes.
final class RowLayouts<Row: QueryRow>: Sendable {
    let columns: [RowColumn<Row>]
    let numbers: ColumnNumbers
    /// The columns that make up the key, in its order.
    let keyColumns: [Int]
    let primary: KeyLayout<Row>
    let indexes: [KeyLayout<Row>]
    /// The layouts of the unique rules, in their order; they are among the indexes.
    let uniques: [KeyLayout<Row>]
    let indexed: IndexedTable?
    /// A bit for each number of a field that a row has once at most.
    let singleFields: UInt64

    private init() {
        let columns = Row.columns
        let numbers = ColumnNumbers(columns.map(\.keyPath))
        self.columns = columns
        self.numbers = numbers
        singleFields = columns.reduce(0) { $0 | $1.singleFields }
        keyColumns = columns.indices.filter { columns[$0].isKey }
        let primary = KeyLayout(columns, numbers)
        let declared = Row.indexes.map { KeyLayout(index: $0, primary) }
        let uniques = Row.uniques.map { KeyLayout(index: $0.index, primary) }
        var indexes = declared
        for unique in uniques where !indexes.contains(where: { $0.index == unique.index }) { indexes.append(unique) }
        self.primary = primary
        self.indexes = indexes
        self.uniques = uniques
        indexed = indexes.isEmpty && Row.texts.isEmpty ? nil : Self.indexedTable(indexes, primary.shape.byteCount)
    }

    /// Created once per row type.
    static var shared: RowLayouts {
        madeLayouts.withLock { known in
            if let layouts = known[ObjectIdentifier(Row.self)] as? RowLayouts { return layouts }
            let layouts = RowLayouts()
            known[ObjectIdentifier(Row.self)] = layouts
            return layouts
        }
    }

    private static func indexedTable(_ layouts: [KeyLayout<Row>], _ keyLength: Int) -> IndexedTable {
        let append = joined(layouts.map(\.appender))
        return IndexedTable(
            table: Row.table, keyLength: keyLength,
            indexes: layouts.map {
                IndexedTable.Index(name: "\(Row.table).\($0.lastingIndex)", entryLength: $0.shape.byteCount, runs: $0.shape.runs)
            },
            texts: Row.texts.flatMap(\.allIndexes),
            fingerprint: "1;" + (layouts.map(\.fingerprint) + Row.texts.map(\.fingerprint)).joined(separator: ";")
        ) { key, value, entries in
            guard key.byteCount == keyLength else { return false }
            return Row.read(key, value) { append(key, $0, &entries) }
        }
    }
}

private let madeLayouts = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])
