/// A row of a view that can be asked for by a `FetchDescriptor`.
public protocol QueryRow: Sendable {
    /// The view that keeps the rows, and the table in it.
    static var view: String { get }
    static var table: String { get }
    /// What predicates and sort descriptors may name: first the properties that make up the key, in its order, then the others.
    static var columns: [RowColumn<Self>] { get }

    /// - Returns: nil where the bytes are no row.
    init?(key: RawSpan, value: RawSpan)
}
