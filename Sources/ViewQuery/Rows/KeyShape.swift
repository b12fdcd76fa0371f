internal import Projections
internal import ProtobufWire

/// The layout of a table's keys or an index's entries as numbers. It is not generic over the row type, whose metadata would be looked up for each
/// key.
struct KeyShape: Sendable {
    /// In bytes, of each number.
    let widths: [Int]
    let byteCount: Int
    /// In bytes, of the row's key.
    let primaryLength: Int
    /// The parts that an entry shares with the row's key.
    let runs: [IndexedTable.KeyRun]

    func largest(_ number: Int) -> UInt64 { Self.largest(width: widths[number]) }

    static func largest(width: Int) -> UInt64 { width >= 8 ? .max : (1 << UInt64(8 * width)) - 1 }

    /// The key's numbers, nil if it has another length.
    func numbers(of key: RawSpan) -> [UInt64]? {
        guard key.byteCount == byteCount else { return nil }
        var numbers: [UInt64] = []
        numbers.reserveCapacity(widths.count)
        var start = 0
        for width in widths {
            numbers.append(Self.number(key, start, width))
            start += width
        }
        return numbers
    }

    func key(of numbers: some Sequence<UInt64>) -> [UInt8] { key(of: numbers, at: widths.indices) }

    /// The bytes of some of the key's numbers.
    func key(of numbers: some Sequence<UInt64>, at places: Range<Int>) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(byteCount)
        for (number, width) in zip(numbers, widths[places]) {
            for byte in (0..<width).reversed() { key.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))) }
        }
        return key
    }

    private static func number(_ key: RawSpan, _ start: Int, _ width: Int) -> UInt64 {
        var number: UInt64 = 0
        for offset in start..<start + width { number = number << 8 | UInt64(key.byte(at: offset)) }
        return number
    }

    /// Writes the row's key in an entry.
    func readKey(of entry: RawSpan, into key: inout [UInt8]) {
        for run in runs {
            for offset in 0..<run.count {
                let byte = entry.byte(at: run.entry + offset)
                key[run.key + offset] = run.isInverted ? ~byte : byte
            }
        }
    }
}
