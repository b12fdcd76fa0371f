/// How many rows may be decoded to be tested, and why so many.
public struct FilterLimit: Sendable, Hashable {
    public var rows: Int
    public var reason: String

    public init(_ rows: Int, reason: String) {
        self.rows = rows
        self.reason = reason
    }
}
