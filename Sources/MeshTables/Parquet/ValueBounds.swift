/// The minimum and maximum of a page or column, as in statistics.
struct ValueBounds {
    var least: [UInt8]
    var greatest: [UInt8]
}

/// How values are compared: by the order that Parquet defines for their type.
enum ValueOrder {
    case signed, unsigned, float32, float64, bytes, bool

    func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        switch self {
        case .signed: Self.signed(left) < Self.signed(right)
        case .unsigned, .bool: Self.unsigned(left) < Self.unsigned(right)
        case .float32:
            Float(bitPattern: UInt32(truncatingIfNeeded: Self.unsigned(left)))
                < Float(bitPattern: UInt32(truncatingIfNeeded: Self.unsigned(right)))
        case .float64: Double(bitPattern: Self.unsigned(left)) < Double(bitPattern: Self.unsigned(right))
        case .bytes: left.lexicographicallyPrecedes(right)
        }
    }

    private static func unsigned(_ bytes: [UInt8]) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }

    private static func signed(_ bytes: [UInt8]) -> Int64 {
        let value = unsigned(bytes)
        return bytes.count == 8 ? Int64(bitPattern: value) : Int64(Int32(truncatingIfNeeded: value))
    }

    func union(_ left: ValueBounds?, _ right: ValueBounds?) -> ValueBounds? {
        guard let left, let right else { return left ?? right }
        return ValueBounds(
            least: precedes(right.least, left.least) ? right.least : left.least,
            greatest: precedes(left.greatest, right.greatest) ? right.greatest : left.greatest)
    }

    /// The bounds of numbers, given as their bits; nil if none of them can be compared.
    /// - Parameter width: 4 or 8 bytes.
    func bounds(_ values: [UInt64], width: Int) -> ValueBounds? {
        func bytes(_ value: UInt64) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(littleEndian: value, width: width)
            return bytes
        }
        guard let first = values.first else { return nil }
        switch self {
        case .signed:
            var (least, greatest) = (Int64.max, Int64.min)
            for value in values {
                let number = width == 8 ? Int64(bitPattern: value) : Int64(Int32(truncatingIfNeeded: value))
                least = min(least, number)
                greatest = max(greatest, number)
            }
            return ValueBounds(least: bytes(UInt64(bitPattern: least)), greatest: bytes(UInt64(bitPattern: greatest)))
        case .float32, .float64:
            var (least, greatest) = (Double.infinity, -Double.infinity)
            var isAny = false
            for value in values {
                let number =
                    width == 8 ? Double(bitPattern: value) : Double(Float(bitPattern: UInt32(truncatingIfNeeded: value)))
                guard !number.isNaN else { continue }
                isAny = true
                least = min(least, number)
                greatest = max(greatest, number)
            }
            guard isAny else { return nil }
            // The two zeros are equal; the bounds must include both.
            if least == 0 { least = -0.0 }
            if greatest == 0 { greatest = 0.0 }
            func bits(_ number: Double) -> UInt64 { width == 8 ? number.bitPattern : UInt64(Float(number).bitPattern) }
            return ValueBounds(least: bytes(bits(least)), greatest: bytes(bits(greatest)))
        case .unsigned, .bytes, .bool:
            var (least, greatest) = (first, first)
            for value in values {
                least = min(least, value)
                greatest = max(greatest, value)
            }
            return ValueBounds(least: bytes(least), greatest: bytes(greatest))
        }
    }
}
