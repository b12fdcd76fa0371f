internal import ProtobufWire

/// The numbers that a row's key consists of.
struct KeyLayout<Row: QueryRow> {
    struct Place {
        let column: RowColumn<Row>
        /// The key's numbers that the column makes up.
        let numbers: Range<Int>
    }

    let places: [Place]
    let widths: [Int]
    let byteCount: Int

    init() {
        var places: [Place] = []
        var widths: [Int] = []
        for column in Row.columns where !column.widths.isEmpty {
            places.append(Place(column: column, numbers: widths.count..<widths.count + column.widths.count))
            widths += column.widths
        }
        self.places = places
        self.widths = widths
        byteCount = widths.reduce(0, +)
    }

    func place(of keyPath: AnyKeyPath) -> Place? { places.first { $0.column.keyPath as AnyKeyPath == keyPath } }

    func largest(_ number: Int) -> UInt64 { widths[number] >= 8 ? .max : (1 << UInt64(8 * widths[number])) - 1 }

    /// The key's numbers, nil where it is of another length.
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

    func key(of numbers: [UInt64]) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(byteCount)
        for (number, width) in zip(numbers, widths) {
            for byte in (0..<width).reversed() { key.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))) }
        }
        return key
    }

    static func number(_ key: RawSpan, _ start: Int, _ width: Int) -> UInt64 {
        var number: UInt64 = 0
        for offset in start..<start + width { number = number << 8 | UInt64(key.byte(at: offset)) }
        return number
    }
}
