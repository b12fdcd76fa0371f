/// How far a source has been read, in the source's own terms. Committed together with the events up to it.
public struct SourceCursor: Sendable, Hashable {
    /// The value stored under a cursor's key.
    public enum Stored: Sendable, Hashable {
        case nothing
        case value([UInt8])

        public init(_ value: [UInt8]?) { self = value.map { .value($0) } ?? .nothing }
    }

    /// Names the source: at most 500 bytes in UTF-8.
    public var key: String
    public var value: [UInt8]
    /// The value that must be stored under the key when the events are appended; otherwise the append throws `.cursorMoved`. So two readers
    /// of the same source never store it twice. Nil accepts any stored cursor.
    public var expected: Stored?

    public init(key: String, value: [UInt8], expected: Stored? = nil) {
        self.key = key
        self.value = value
        self.expected = expected
    }
}
