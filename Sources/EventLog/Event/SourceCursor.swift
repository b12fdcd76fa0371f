/// How far a source has been read, in the source's own terms. Committed with the events it follows.
public struct SourceCursor: Sendable, Hashable {
    /// Names the source: at most 500 bytes in UTF-8.
    public var key: String
    public var value: [UInt8]

    public init(key: String, value: [UInt8]) {
        self.key = key
        self.value = value
    }
}
