// The one place of this module that reads memory without a bounds check. Every function marked `unchecked` states what its caller
// has to have compared first; all callers are in `WireReader.swift` and in the hot path of the packet decoder.

extension RawSpan {
    /// The byte at `offset`; 0 outside the bytes.
    @inlinable @inline(__always)
    public func byte(at offset: Int) -> UInt8 {
        guard offset >= 0, offset < byteCount else { return 0 }
        return byte(uncheckedAt: offset)
    }

    /// The byte at `offset`, which the caller has compared with `byteCount`.
    @inlinable @inline(__always)
    public func byte(uncheckedAt offset: Int) -> UInt8 {
        assert(offset >= 0 && offset < byteCount)
        return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// Four bytes, the lowest first; the caller guarantees `offset >= 0` and `offset + 4 <= byteCount`.
    @inlinable @inline(__always)
    public func littleEndian32(uncheckedAt offset: Int) -> UInt32 {
        assert(offset >= 0 && offset &+ 4 <= byteCount)
        return unsafe UInt32(littleEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self))
    }

    /// Eight bytes, the lowest first; the caller guarantees `offset >= 0` and `offset + 8 <= byteCount`.
    @inlinable @inline(__always)
    public func littleEndian64(uncheckedAt offset: Int) -> UInt64 {
        assert(offset >= 0 && offset &+ 8 <= byteCount)
        return unsafe UInt64(littleEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
    }

    /// Four bytes at `offset`, the lowest first; nil if some are missing.
    @inlinable
    public func littleEndian32(at offset: Int) -> UInt32? {
        offset >= 0 && offset <= byteCount &- 4 ? littleEndian32(uncheckedAt: offset) : nil
    }

    /// Eight bytes at `offset`, the lowest first; nil if some are missing.
    @inlinable
    public func littleEndian64(at offset: Int) -> UInt64? {
        offset >= 0 && offset <= byteCount &- 8 ? littleEndian64(uncheckedAt: offset) : nil
    }

    /// The bytes at `range`, clamped to the existing ones.
    @inlinable @inline(__always)
    @_lifetime(copy self)
    public func bytes(_ range: ByteRange) -> RawSpan {
        let start = Swift.min(Swift.max(range.start, 0), byteCount)
        let end = Swift.min(Swift.max(range.end, start), byteCount)
        return unsafe extracting(unchecked: start..<end)
    }

    /// A copy.
    @inlinable
    public var asArray: [UInt8] {
        unsafe withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// Whether both hold the same bytes.
    @inlinable
    public func isEqual(to other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        for offset in 0..<byteCount where byte(uncheckedAt: offset) != other.byte(uncheckedAt: offset) { return false }
        return true
    }

    /// Whether both hold the same bytes.
    @inlinable
    public static func == (left: RawSpan, right: RawSpan) -> Bool { left.isEqual(to: right) }

    /// The bytes as UTF-8 text, each ill-formed part replaced by U+FFFD.
    @inlinable
    public var asRepairedString: String {
        unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

extension [UInt8] {
    /// The array's bytes, in place.
    @inlinable @inline(__always)
    public var rawSpan: RawSpan {
        @_lifetime(borrow self)
        get {
            unsafe span.bytes  // bytes have no padding that could be read uninitialised
        }
    }
}
