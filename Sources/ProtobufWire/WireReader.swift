/// Reads the fields of one protobuf message in place. Never copies, never traps, whatever the bytes.
///
/// ```swift
/// var reader = WireReader(span)
/// while let field = try reader.next() {
///     switch field.tag {
///     case WireField.tag(1, .fixed32): from = field.asUInt32
///     case WireField.tag(4, .lengthDelimited): inner = reader.bytes(field)
///     default: break  // unknown, or a known number with another type: protobuf skips both
///     }
/// }
/// ```
/// Unknown fields are returned like any other. A group is skipped whole and returned as one field of type `startGroup`.
@frozen
public struct WireReader: ~Escapable {
    @usableFromInline let span: RawSpan
    @usableFromInline let end: Int
    @usableFromInline var offset: Int

    /// Reads all of `bytes`.
    @inlinable @inline(__always)
    @_lifetime(copy bytes)
    public init(_ bytes: RawSpan) {
        span = bytes
        end = bytes.byteCount
        offset = 0
    }

    /// Reads the message at `range` of `bytes`, clamped to the existing bytes. Places that the reader returns count from the first of `bytes`.
    @inlinable @inline(__always)
    @_lifetime(copy bytes)
    public init(_ bytes: RawSpan, in range: ByteRange) {
        span = bytes
        offset = Swift.min(Swift.max(range.start, 0), bytes.byteCount)
        end = Swift.min(Swift.max(range.end, offset), bytes.byteCount)
    }

    /// The next field, or nil at the end.
    ///
    /// - Throws: `WireError` if the bytes break the wire format. The reader must not be used afterwards.
    @inlinable @inline(__always)
    public mutating func next() throws(WireError) -> WireField? {
        guard offset < end else { return nil }
        let start = offset
        let first = span.byte(uncheckedAt: offset)
        var tag = UInt32(first)
        if first < 0x80 {
            offset &+= 1
        } else {
            tag = try longTag()
        }
        guard tag >= 8 else { throw WireError(.badTag, offset: start) }
        switch tag & 7 {
        case 0: return WireField(tag: tag, scalar: try varint())
        case 2: return WireField(tag: tag, range: try lengthDelimited())
        case 5: return WireField(tag: tag, scalar: UInt64(try fixed32()))
        case 1: return WireField(tag: tag, scalar: try fixed64())
        case 3: return WireField(tag: tag, range: try group(tag >> 3))
        default: throw WireError(.badWireType, offset: start)
        }
    }

    /// The body of a field that this reader returned.
    @inlinable @inline(__always)
    @_lifetime(copy self)
    public func bytes(_ field: WireField) -> RawSpan { span.bytes(field.range) }

    /// The bytes at a range that this reader returned.
    @inlinable @inline(__always)
    @_lifetime(copy self)
    public func bytes(_ range: ByteRange) -> RawSpan { span.bytes(range) }

    /// The text of a field, each ill-formed part of its UTF-8 replaced by U+FFFD.
    @inlinable
    public func string(_ field: WireField) -> String { span.bytes(field.range).asRepairedString }

    /// The same, but for a longer text only its first `most` Unicode scalars: the rest is not even read, since some operations on texts
    /// (normalising, comparing) take time quadratic in their length.
    public func string(_ field: WireField, scalars most: Int) -> String {
        guard field.range.count > most else { return string(field) }
        // A scalar has at most four bytes, so the one that this may cut comes after those that count.
        let front = ByteRange(truncating: field.range.start, min(field.range.count, 4 * most + 4))
        return String(String.UnicodeScalarView(span.bytes(front).asRepairedString.unicodeScalars.prefix(most)))
    }
}

extension WireReader {
    /// The varint at the current position, without a tag: for packed fields.
    /// - Throws: `WireError` if the bytes end within it, or it has more than ten bytes. The reader must not be used afterwards.
    @inlinable @inline(__always)
    public mutating func varint() throws(WireError) -> UInt64 {
        if offset < end {
            let first = span.byte(uncheckedAt: offset)
            if first < 0x80 {
                offset &+= 1
                return UInt64(first)
            }
        }
        return try longVarint()
    }

    /// Four bytes at the current position, without a tag.
    /// - Throws: `WireError` if there are fewer.
    @inlinable @inline(__always)
    public mutating func fixed32() throws(WireError) -> UInt32 {
        guard end &- offset >= 4 else { throw WireError(.truncated, offset: offset) }
        let value = span.littleEndian32(uncheckedAt: offset)
        offset &+= 4
        return value
    }

    /// Eight bytes at the current position, without a tag.
    /// - Throws: `WireError` if there are fewer.
    @inlinable @inline(__always)
    public mutating func fixed64() throws(WireError) -> UInt64 {
        guard end &- offset >= 8 else { throw WireError(.truncated, offset: offset) }
        let value = span.littleEndian64(uncheckedAt: offset)
        offset &+= 8
        return value
    }

    /// The next tag without reading it, and its length; 0 at the end, and for a tag of more than two bytes.
    @inlinable @inline(__always)
    package var shortTag: (tag: UInt32, length: Int) {
        guard offset < end else { return (0, 0) }
        let first = span.byte(uncheckedAt: offset)
        if first < 0x80 { return (UInt32(first), 1) }
        guard end &- offset >= 2 else { return (0, 0) }
        let second = span.byte(uncheckedAt: offset &+ 1)
        return second < 0x80 ? (UInt32(first & 0x7f) | UInt32(second) << 7, 2) : (0, 0)
    }

    /// Goes behind a tag that `shortTag` has returned.
    @inlinable @inline(__always)
    package mutating func skipTag(_ length: Int) { offset &+= length }

    /// Where the next field begins, counted from the first byte of the span.
    @inlinable public var position: Int { offset }

    /// Whether all bytes were read.
    @inlinable public var isAtEnd: Bool { offset >= end }

    @inlinable @inline(__always)
    mutating func lengthDelimited() throws(WireError) -> ByteRange {
        let start = offset
        let length = try varint()
        guard length <= UInt64(truncatingIfNeeded: end &- offset) else { throw WireError(.lengthOutOfBounds, offset: start) }
        guard offset <= 0x7fff_ffff, length <= 0x7fff_ffff else { throw WireError(.tooLarge, offset: start) }
        let range = ByteRange(truncating: offset, Int(truncatingIfNeeded: length))
        offset &+= Int(truncatingIfNeeded: length)
        return range
    }

    /// A varint of up to ten bytes; bits above 64 are dropped, as official decoders do.
    @usableFromInline
    mutating func longVarint() throws(WireError) -> UInt64 {
        let start = offset
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 70 {
            guard offset < end else { throw WireError(.truncated, offset: start) }
            let byte = span.byte(uncheckedAt: offset)
            offset &+= 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift &+= 7
        }
        throw WireError(.varintTooLong, offset: start)
    }

    @inlinable @inline(__always)
    mutating func longTag() throws(WireError) -> UInt32 {
        let start = offset
        if end &- offset >= 2 {
            let second = span.byte(uncheckedAt: offset &+ 1)
            if second < 0x80 {
                let tag = UInt32(span.byte(uncheckedAt: offset) & 0x7f) | UInt32(second) << 7
                offset &+= 2
                return tag
            }
        }
        let tag = try longVarint()
        guard tag <= UInt64(UInt32.max), offset &- start <= 5 else { throw WireError(.badTag, offset: start) }
        return UInt32(truncatingIfNeeded: tag)
    }

    /// The body of the group that has just begun; skips its end tag.
    @usableFromInline
    mutating func group(_ number: UInt32) throws(WireError) -> ByteRange {
        let start = offset
        var open: [UInt32] = [number]
        while let innermost = open.last {
            let place = offset
            guard offset < end else { throw WireError(.truncated, offset: start) }
            let raw = try longVarint()
            guard raw >= 8, raw <= UInt64(UInt32.max) else { throw WireError(.badTag, offset: place) }
            switch raw & 7 {
            case 0: _ = try varint()
            case 1: _ = try fixed64()
            case 2: _ = try lengthDelimited()
            case 3:
                guard open.count < 100 else { throw WireError(.tooDeep, offset: place) }
                open.append(UInt32(truncatingIfNeeded: raw >> 3))
            case 4:
                guard UInt32(truncatingIfNeeded: raw >> 3) == innermost else { throw WireError(.badWireType, offset: place) }
                open.removeLast()
                if open.isEmpty {
                    guard place <= 0x7fff_ffff else { throw WireError(.tooLarge, offset: start) }
                    return ByteRange(truncating: start, place &- start)
                }
            case 5: _ = try fixed32()
            default: throw WireError(.badWireType, offset: place)
            }
        }
        throw WireError(.truncated, offset: start)
    }
}
