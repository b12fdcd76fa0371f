/// Appends protobuf fields to a byte array.
///
/// ```swift
/// var writer = WireWriter()
/// writer.fixed32(1, node)
/// writer.message(4) { $0.varint(1, 67) }
/// send(writer.bytes)
/// ```
/// Writes every field that is passed to it, even zeros: presence is the caller's decision.
public struct WireWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: how many bytes to reserve.
    public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    public mutating func removeAll(keepingCapacity: Bool = true) { bytes.removeAll(keepingCapacity: keepingCapacity) }

    public mutating func varint(_ number: UInt32, _ value: UInt64) {
        let tag = WireField.tag(number, .varint)
        guard tag < 0x80, value <= ShortBytes.largestVarint else {
            rawVarint(UInt64(tag))
            return rawVarint(value)
        }
        var field = ShortBytes(UInt8(truncatingIfNeeded: tag))
        field.varint(value)
        bytes.append(field)
    }

    public mutating func uint32(_ number: UInt32, _ value: UInt32) { varint(number, UInt64(value)) }

    /// Negative numbers take ten bytes, as in protobuf.
    public mutating func int32(_ number: UInt32, _ value: Int32) { varint(number, UInt64(bitPattern: Int64(value))) }

    public mutating func int64(_ number: UInt32, _ value: Int64) { varint(number, UInt64(bitPattern: value)) }

    public mutating func sint32(_ number: UInt32, _ value: Int32) {
        varint(number, UInt64(UInt32(bitPattern: (value << 1) ^ (value >> 31))))
    }

    public mutating func sint64(_ number: UInt32, _ value: Int64) {
        varint(number, UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    public mutating func bool(_ number: UInt32, _ value: Bool) { varint(number, value ? 1 : 0) }

    public mutating func fixed32(_ number: UInt32, _ value: UInt32) {
        let tag = WireField.tag(number, .fixed32)
        guard tag < 0x80 else {
            rawVarint(UInt64(tag))
            return rawFixed32(value)
        }
        var field = ShortBytes(UInt8(truncatingIfNeeded: tag))
        field.fixed32(value)
        bytes.append(field)
    }

    public mutating func sfixed32(_ number: UInt32, _ value: Int32) { fixed32(number, UInt32(bitPattern: value)) }

    public mutating func fixed64(_ number: UInt32, _ value: UInt64) {
        tag(number, .fixed64)
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    public mutating func float(_ number: UInt32, _ value: Float) { fixed32(number, value.bitPattern) }

    public mutating func double(_ number: UInt32, _ value: Double) { fixed64(number, value.bitPattern) }

    public mutating func bytes(_ number: UInt32, _ value: [UInt8]) {
        tag(number, .lengthDelimited)
        rawVarint(UInt64(value.count))
        bytes += value
    }

    public mutating func bytes(_ number: UInt32, _ value: RawSpan) {
        tag(number, .lengthDelimited)
        rawVarint(UInt64(value.byteCount))
        raw(value)
    }

    public mutating func string(_ number: UInt32, _ value: String) {
        var text = value
        text.withUTF8 { utf8 in
            tag(number, .lengthDelimited)
            rawVarint(UInt64(utf8.count))
            unsafe bytes.append(contentsOf: utf8)
        }
    }

    /// A nested message; its length is inserted before it when `body` returns.
    /// - Throws: what `body` throws; the bytes then end with an incomplete field.
    public mutating func message<Failure: Error>(_ number: UInt32, _ body: (inout WireWriter) throws(Failure) -> Void)
        throws(Failure)
    {
        tag(number, .lengthDelimited)
        let place = bytes.count
        bytes.append(0)
        try body(&self)
        let length = bytes.count - place - 1
        if length < 0x80 {
            bytes[place] = UInt8(length)
        } else {
            var prefix = WireWriter(capacity: 10)
            prefix.rawVarint(UInt64(length))
            bytes.replaceSubrange(place...place, with: prefix.bytes)
        }
    }
}

extension WireWriter {
    /// A packed list of 32-bit numbers of fixed width.
    public mutating func packedFixed32(_ number: UInt32, _ values: [UInt32]) {
        message(number) { writer in for value in values { writer.rawFixed32(value) } }
    }

    public mutating func packedFloat(_ number: UInt32, _ values: [Float]) {
        message(number) { writer in for value in values { writer.rawFixed32(value.bitPattern) } }
    }

    /// A packed list of `int32`: negative ones take ten bytes each.
    public mutating func packedInt32(_ number: UInt32, _ values: [Int32]) {
        message(number) { writer in for value in values { writer.rawVarint(UInt64(bitPattern: Int64(value))) } }
    }

    public mutating func packedVarint(_ number: UInt32, _ values: [UInt64]) {
        message(number) { writer in for value in values { writer.rawVarint(value) } }
    }

    /// Bytes as they are, for fields that are already encoded.
    public mutating func raw(_ value: [UInt8]) { bytes += value }

    public mutating func raw(_ value: RawSpan) {
        unsafe value.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    public mutating func tag(_ number: UInt32, _ type: WireType) { rawVarint(UInt64(WireField.tag(number, type))) }

    public mutating func rawVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    public mutating func rawFixed32(_ value: UInt32) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }
}
