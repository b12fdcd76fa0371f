/// A value that can be a key, whose bytes sort like the values: fixed binary, big-endian. At most 511 bytes.
public protocol KeyCodec: Sendable {
    /// Restores the value from the bytes of a key.
    /// - Throws: `.malformedValue` if they are not such a value.
    init(decodingKey bytes: RawSpan) throws(StorageError)
    func encode(into key: inout KeyBuffer)
}

/// A value that can be stored as bytes.
public protocol ValueCodec: Sendable {
    /// Restores the value from its bytes.
    /// - Throws: `.malformedValue` if they are not such a value.
    init(decodingValue bytes: RawSpan) throws(StorageError)
    /// Calls `body` with the value's bytes, which are valid until it returns.
    /// - Throws: what `body` throws.
    func withValueBytes<Result>(_ body: (RawSpan) throws(StorageError) -> Result) throws(StorageError) -> Result
}

/// Room for one key, on the stack.
public struct KeyBuffer: ~Copyable {
    @usableFromInline var storage = InlineArray<512, UInt8>(repeating: 0)
    /// The length of the key so far. A key of more than 511 bytes is refused when it is used.
    public private(set) var count = 0

    public init() {}

    public mutating func removeAll() { count = 0 }

    public mutating func append(_ byte: UInt8) {
        if count < 512 {
            storage[count] = byte
            count += 1
        }
    }

    /// Appends the number in big-endian order, so that keys sort as numbers do.
    public mutating func append<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
        var shift = Number.bitWidth
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }

    public mutating func append(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { source in
            for place in source.indices { append(unsafe source[place]) }
        }
    }

    public var bytes: RawSpan {
        @_lifetime(borrow self) get { unsafe storage.span.bytes.extracting(first: count) }
    }
}
