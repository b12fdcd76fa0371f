/// Names a row of a view: what it is found by. It holds across restarts and rebuilds.
public struct RowIdentifier<Row: QueryRow>: Sendable, Hashable, Codable {
    /// The row's key, as it stands in the view's table.
    public let key: [UInt8]

    public init(key: [UInt8]) { self.key = key }
}
