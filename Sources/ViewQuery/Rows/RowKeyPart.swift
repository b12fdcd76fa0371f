/// One property in a stored row's key: a big-endian number.
///
/// It is public because only public code is specialized in other modules, where custom views are.
public struct RowKeyPart<Row>: Sendable {
    @usableFromInline let width: Int
    /// The place of an integer in the row; nil for any other value.
    @usableFromInline let offset: Int?
    /// The sign bit of a signed integer, which is inverted in keys.
    @usableFromInline let sign: UInt64
    /// Computes the number of a value that is not a plain integer.
    @usableFromInline let number: @Sendable (borrowing Row) -> UInt64

    init<Value: RowKey>(_ keyPath: any KeyPath<Row, Value> & Sendable, _ get: @escaping @Sendable (borrowing Row) -> Value) {
        width = Value.keyWidth
        let isUnsigned = [UInt8.self, UInt16.self, UInt32.self, UInt64.self].contains { $0 == Value.self }
        let isSigned = [Int8.self, Int16.self, Int32.self, Int64.self].contains { $0 == Value.self }
        offset = isUnsigned || isSigned ? MemoryLayout<Row>.offset(of: keyPath) : nil
        sign = isSigned ? 1 << UInt64(8 * width - 1) : 0
        number = { get($0).keyNumber }
    }

    /// Appends the number to the key.
    @inlinable @inline(__always)
    public func append(_ row: borrowing Row, to key: inout [UInt8]) {
        let number = number(in: row)
        var shift = UInt64(8 * width)
        while shift > 0 {
            shift &-= 8
            key.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    @inlinable @inline(__always)
    func number(in row: borrowing Row) -> UInt64 {
        guard let offset else { return number(row) }
        return unsafe withUnsafeBytes(of: row) { bytes in
            switch width {
            case 1: unsafe UInt64(bytes.load(fromByteOffset: offset, as: UInt8.self)) ^ sign
            case 2: unsafe UInt64(bytes.load(fromByteOffset: offset, as: UInt16.self)) ^ sign
            case 4: unsafe UInt64(bytes.load(fromByteOffset: offset, as: UInt32.self)) ^ sign
            default: unsafe bytes.load(fromByteOffset: offset, as: UInt64.self) ^ sign
            }
        }
    }
}
