extension StorageError {
    /// The stored bytes are not a value of the expected type.
    public static func malformed(_ type: Any.Type) -> StorageError {
        StorageError(.malformedValue, call: "decode \(type)", path: "the store")
    }
}

extension KeyCodec where Self: FixedWidthInteger & UnsignedInteger & BitwiseCopyable {
    public init(decodingKey bytes: RawSpan) throws(StorageError) {
        guard bytes.byteCount == Self.bitWidth / 8 else { throw .malformed(Self.self) }
        self = Self(bigEndian: unsafe bytes.unsafeLoadUnaligned(as: Self.self))
    }

    public func encode(into key: inout KeyBuffer) { key.append(self) }
}

extension UInt8: KeyCodec {}
extension UInt16: KeyCodec {}
extension UInt32: KeyCodec {}
extension UInt64: KeyCodec {}

extension ValueCodec where Self: FixedWidthInteger & UnsignedInteger & BitwiseCopyable {
    public init(decodingValue bytes: RawSpan) throws(StorageError) {
        guard bytes.byteCount == Self.bitWidth / 8 else { throw .malformed(Self.self) }
        self = Self(littleEndian: unsafe bytes.unsafeLoadUnaligned(as: Self.self))
    }

    public func withValueBytes<Result>(
        _ body: (RawSpan) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let stored = InlineArray<1, Self>(repeating: littleEndian)
        return unsafe try body(stored.span.bytes)
    }
}

extension UInt32: ValueCodec {}
extension UInt64: ValueCodec {}

extension Array: KeyCodec where Element == UInt8 {
    public init(decodingKey bytes: RawSpan) throws(StorageError) { self.init(bytes) }
    public func encode(into key: inout KeyBuffer) { unsafe key.append(span.bytes) }
}

extension Array: ValueCodec where Element == UInt8 {
    public init(decodingValue bytes: RawSpan) throws(StorageError) { self.init(bytes) }

    public func withValueBytes<Result>(
        _ body: (RawSpan) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        unsafe try body(span.bytes)
    }
}

extension String: KeyCodec, ValueCodec {
    public init(decodingKey bytes: RawSpan) throws(StorageError) { try self.init(decodingValue: bytes) }
    public func encode(into key: inout KeyBuffer) { unsafe key.append(Array(utf8).span.bytes) }

    public init(decodingValue bytes: RawSpan) throws(StorageError) {
        guard let text = String(validating: [UInt8](bytes), as: UTF8.self) else { throw .malformed(String.self) }
        self = text
    }

    public func withValueBytes<Result>(
        _ body: (RawSpan) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        unsafe try body(Array(utf8).span.bytes)
    }
}

extension Array where Element == UInt8 {
    init(_ bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
