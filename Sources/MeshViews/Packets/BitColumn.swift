import ProtobufWire

/// Numbers of a fixed width in consecutive bits, the lowest bit first.
enum Bits {
    /// How many bits the numbers below `count` need.
    static func width(below count: Int) -> Int { count <= 1 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount }

    static func byteCount(_ count: Int, width: Int) -> Int { (count * width + 7) / 8 }

    static func append(_ numbers: some Sequence<Int>, width: Int, to bytes: inout [UInt8]) {
        guard width > 0 else { return }
        var (held, heldBits) = (UInt64(0), 0)
        for number in numbers {
            held |= UInt64(truncatingIfNeeded: number) << UInt64(heldBits)
            heldBits += width
            while heldBits >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: held))
                held >>= 8
                heldBits -= 8
            }
        }
        if heldBits > 0 { bytes.append(UInt8(truncatingIfNeeded: held)) }
    }

    static func append(varint number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}

/// The place of such numbers in a value that continues for at least eight bytes after them.
struct BitColumn: Sendable {
    let start: Int
    let width: Int
    private let mask: UInt64

    /// - Parameter width: at most 32.
    init(start: Int, width: Int) {
        (self.start, self.width) = (start, width)
        mask = (1 << UInt64(width)) &- 1
    }

    /// The number at `index`; the caller guarantees that it is in the column.
    @inline(__always)
    func number(_ index: Int, in bytes: RawSpan) -> Int {
        let bit = index &* width
        let word = bytes.littleEndian64(uncheckedAt: start &+ bit >> 3)
        return Int(truncatingIfNeeded: (word >> UInt64(bit & 7)) & mask)
    }
}
