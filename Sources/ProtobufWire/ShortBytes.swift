/// Up to eight bytes that are appended at once, the first in the lowest byte: a field's tag and its number.
struct ShortBytes {
    private(set) var word: UInt64 = 0
    private(set) var count = 0

    /// The largest number whose varint fits together with a tag of one byte.
    static let largestVarint: UInt64 = (1 << 49) - 1

    @inline(__always)
    init(_ first: UInt8) {
        word = UInt64(first)
        count = 1
    }

    /// - Parameter value: at most `largestVarint`.
    @inline(__always)
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            put(rest & 0x7f | 0x80, 1)
            rest >>= 7
        }
        put(rest, 1)
    }

    @inline(__always)
    mutating func fixed32(_ value: UInt32) { put(UInt64(value), 4) }

    @inline(__always)
    private mutating func put(_ bytes: UInt64, _ length: Int) {
        word |= bytes << UInt64(8 * count)
        count += length
    }
}

extension [UInt8] {
    @inline(__always)
    mutating func append(_ bytes: ShortBytes) {
        append(addingCapacity: 8) { room in
            unsafe room.withUnsafeMutableBufferPointer { buffer, count in
                // All eight are stored, which costs less than the right number of them; only those count. There is room for eight.
                let start = unsafe UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                unsafe start.storeBytes(of: bytes.word.littleEndian, as: UInt64.self)
                count += bytes.count
            }
        }
    }
}
