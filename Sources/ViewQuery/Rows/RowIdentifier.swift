/// Identifies a row of a view. It remains valid across restarts and rebuilds.
public struct RowIdentifier<Row: QueryRow>: Sendable, Hashable, Codable {
    /// The row's key, as stored in the view's table.
    public let key: [UInt8]

    public init(key: [UInt8]) { self.key = key }
}
