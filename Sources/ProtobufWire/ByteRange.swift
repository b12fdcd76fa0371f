/// A range within known bytes.
@frozen
public struct ByteRange: Sendable, Hashable {
    public var offset: Int32
    public var length: Int32

    public static let empty = ByteRange(offset: 0, length: 0)

    @inlinable
    public init(offset: Int32, length: Int32) {
        self.offset = offset
        self.length = length
    }

    /// For numbers known to fit; higher bits are dropped.
    @inlinable @inline(__always)
    public init(truncating offset: Int, _ length: Int) {
        self.offset = Int32(truncatingIfNeeded: offset)
        self.length = Int32(truncatingIfNeeded: length)
    }

    @inlinable public var isEmpty: Bool { length == 0 }
    @inlinable public var count: Int { Int(length) }
    /// The position of the first byte.
    @inlinable public var start: Int { Int(offset) }
    /// The position after the last byte.
    @inlinable public var end: Int { Int(offset) + Int(length) }
}
