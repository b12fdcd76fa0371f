/// Encodings of values in Parquet's pages: `Encodings.md` of apache/parquet-format.
enum PageEncoding: Int {
    case plain = 0
    case runLength = 3
    case deltaBinaryPacked = 5
    case dictionary = 8
    case byteStreamSplit = 9
}

/// Appends bits, lowest first.
struct BitPacker {
    var bytes: [UInt8]
    private var pending: UInt64 = 0
    private var count = 0

    init(_ bytes: consuming [UInt8] = []) { self.bytes = bytes }

    /// - Parameter value: below 2 to the power of `width`.
    @inline(__always)
    mutating func append(_ value: UInt64, width: Int) {
        pending |= value << UInt64(count)
        guard count + width >= 64 else { return count += width }
        unsafe withUnsafeBytes(of: pending.littleEndian) { unsafe bytes.append(contentsOf: $0) }
        pending = value >> UInt64(64 - count)  // nothing where all of it is stored
        count += width - 64
    }

    mutating func finish() {
        while count > 0 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            count -= 8
        }
        count = 0
    }
}

extension [UInt8] {
    /// Runs of equal numbers, and groups of eight bit-packed ones.
    mutating func append(hybrid values: [Int32], width: Int) {
        var place = 0
        let count = values.count
        while place < count {
            let value = values[place]
            var end = place + 1
            while end < count, values[end] == value { end += 1 }
            if end - place >= 16 || end == count && place + 8 > count {
                append(varint: UInt64(end - place) << 1)
                append(littleEndian: UInt64(UInt32(bitPattern: value)), width: (width + 7) / 8)
                place = end
                continue
            }
            // Packed until the next long run begins.
            var last = place
            while last < count {
                last += 8
                guard last + 16 <= count else { continue }
                let next = values[last]
                if (last + 1..<last + 16).allSatisfy({ values[$0] == next }) { break }
            }
            let groups = (Swift.min(last, count) - place + 7) / 8
            append(varint: UInt64(groups) << 1 | 1)
            var packer = BitPacker(self)
            self = []
            for index in place..<place + groups * 8 {
                packer.append(index < count ? UInt64(UInt32(bitPattern: values[index])) : 0, width: width)
            }
            packer.finish()
            self = packer.bytes
            place += groups * 8
        }
    }

    /// Levels of 0 and 1, preceded by their length, as in data pages of version 1.
    mutating func append(levels bits: [UInt8], count: Int, ones: Int) {
        var levels: [UInt8] = []
        if ones == 0 || ones == count {
            levels.append(varint: UInt64(count) << 1)
            levels.append(ones == 0 ? 0 : 1)
        } else {
            levels.append(varint: UInt64((count + 7) / 8) << 1 | 1)
            levels += bits.prefix((count + 7) / 8)
        }
        append(littleEndian: UInt64(levels.count), width: 4)
        self += levels
    }

    /// Differences in blocks of 128, each quarter of which has its own width.
    /// - Parameter width: the width of the values, 4 or 8 bytes; differences wrap around.
    mutating func append(deltas values: [UInt64], width: Int) {
        append(varint: 128)
        append(varint: 4)
        append(varint: UInt64(values.count))
        func signed(_ value: UInt64) -> Int64 {
            width == 8 ? Int64(bitPattern: value) : Int64(Int32(truncatingIfNeeded: value))
        }
        append(zigzag: values.first.map(signed) ?? 0)
        var place = 1
        var deltas = [Int64](repeating: 0, count: 128)
        while place < values.count {
            let count = Swift.min(128, values.count - place)
            var least = Int64.max
            for index in 0..<count {
                let delta = signed(values[place + index] &- values[place + index - 1])
                deltas[index] = delta
                least = Swift.min(least, delta)
            }
            append(zigzag: least)
            var widths: [Int] = []
            for quarter in 0..<4 {
                var all: UInt64 = 0
                for index in Swift.min(quarter * 32, count)..<Swift.min(quarter * 32 + 32, count) {
                    var rest = UInt64(bitPattern: deltas[index] &- least)
                    if width == 4 { rest &= 0xffff_ffff }
                    all |= rest
                }
                widths.append(64 - all.leadingZeroBitCount)
            }
            self += widths.map { UInt8($0) }
            var packer = BitPacker(self)
            self = []
            for quarter in 0..<4 where quarter * 32 < count && widths[quarter] > 0 {
                for index in quarter * 32..<quarter * 32 + 32 {
                    var rest = index < count ? UInt64(bitPattern: deltas[index] &- least) : 0
                    if width == 4 { rest &= 0xffff_ffff }
                    packer.append(rest, width: widths[quarter])
                }
            }
            packer.finish()
            self = packer.bytes
            place += count
        }
    }

    /// The first bytes of all values, then their second bytes, and so on.
    mutating func append(split values: [UInt64], width: Int) {
        append(count: values.count * width) { bytes, start in
            var place = start
            for byte in 0..<width {
                for value in values {
                    bytes[place] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
                    place &+= 1
                }
            }
        }
    }

    mutating func append(plain values: [UInt64], width: Int) {
        append(count: values.count * width) { bytes, start in
            var place = start
            for value in values {
                for byte in 0..<width { bytes[place &+ byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte)) }
                place &+= width
            }
        }
    }

    /// Appends bytes that are zeros until `fill` has written them.
    @inline(__always)
    private mutating func append(count: Int, _ fill: (inout MutableSpan<UInt8>, _ start: Int) -> Void) {
        let start = self.count
        append(contentsOf: repeatElement(0, count: count))
        var span = mutableSpan
        fill(&span, start)
    }
}
