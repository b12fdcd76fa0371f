/// How many rows may be decoded for testing, and the reason for the limit.
public struct FilterLimit: Sendable, Hashable {
    public var rows: Int
    public var reason: String

    public init(_ rows: Int, reason: String) {
        self.rows = rows
        self.reason = reason
    }
}
