import ProtobufWire

/// A number as it is stored in keys, so that the order of the bytes is the order of the numbers.
package func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
}

extension RawSpan {
    /// Four bytes, the highest first; 0 if some of them are missing.
    package func bigEndianUInt32(at offset: Int) -> UInt32 {
        guard offset >= 0, offset <= byteCount - 4 else { return 0 }
        return unsafe UInt32(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// Eight bytes, the highest first; 0 if some of them are missing.
    package func bigEndianUInt64(at offset: Int) -> UInt64 {
        guard offset >= 0, offset <= byteCount - 8 else { return 0 }
        return unsafe UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    package func starts(with prefix: [UInt8]) -> Bool {
        guard byteCount >= prefix.count else { return false }
        for index in prefix.indices where byte(at: index) != prefix[index] { return false }
        return true
    }
}
