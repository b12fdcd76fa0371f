/// A digest of a partition's rows that ignores their order: the sum of the hashes of all rows, and the events that they name.
struct RowDigest: Equatable {
    private var sum: UInt64 = 0
    private(set) var count = 0
    private var first = UInt64.max
    private var last: UInt64 = 0

    /// The first and the last event that rows name; 0 if they name none.
    var sequences: (first: UInt64, last: UInt64) { (first == .max ? 0 : first, last) }

    var text: String { "\(count)-\(String(sum, radix: 16))" }

    /// - Parameter sequences: of a batch, as the function of the same name finds them.
    mutating func add(_ hash: UInt64, row: Int, _ sequences: [[UInt64]]) {
        sum &+= hash
        count += 1
        for values in sequences where values[row] > 0 {
            first = min(first, values[row])
            last = max(last, values[row])
        }
    }

    /// The columns of a batch that name events.
    static func sequences(_ batch: ColumnBatch, _ columns: [ColumnSchema]) -> [[UInt64]] {
        zip(columns, batch.columns).compactMap { schema, column in
            guard ["sequence", "first_sequence", "last_sequence"].contains(schema.name), case .uint64(let values) = column.data
            else { return nil }
            return values
        }
    }

    /// How many rows are hashed column by column at a time, while their hashes are in the processor's cache.
    private static let rowsAtOnce = 2_048

    /// A hash of each row of a batch.
    static func hashes(_ batch: ColumnBatch, seed: UInt64, _ names: inout [Int: [UInt64]]) -> [UInt64] {
        var hashes = [UInt64](repeating: seed, count: batch.rowCount)
        for (place, column) in batch.columns.enumerated() {
            guard case .dictionary(_, let dictionary) = column.data else { continue }
            var known = names.removeValue(forKey: place) ?? []
            while known.count < dictionary.count { known.append(hash(dictionary.text(known.count))) }
            names[place] = known
        }
        for start in stride(from: 0, to: batch.rowCount, by: rowsAtOnce) {
            let rows = start..<min(start + rowsAtOnce, batch.rowCount)
            for (place, column) in batch.columns.enumerated() { add(column, rows, to: &hashes, from: 0, names[place] ?? []) }
        }
        return hashes
    }

    /// What stands for a null, and what an element and a list begin with.
    static let null: UInt64 = 0x6e75_6c6c
    static let element: UInt64 = 1
    static let emptyList: UInt64 = 2

    @inline(__always)
    static func mix(_ hash: UInt64, _ value: UInt64) -> UInt64 {
        let product = (hash ^ value &* 0x9e37_79b9_7f4a_7c15).multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
        return product.high ^ product.low
    }

    /// - Parameters:
    ///   - first: the row of the first hash.
    ///   - texts: the hashes of a dictionary's texts.
    private static func add(
        _ column: ColumnArray, _ rows: Range<Int>, to hashes: inout [UInt64], from first: Int, _ texts: [UInt64]
    ) {
        @inline(__always)
        func each(_ value: (Int) -> UInt64) { mix(column, rows, into: &hashes, from: first, value) }
        switch column.data {
        case .bool(let bits): each { UInt64(bits[$0 >> 3] >> UInt8($0 & 7) & 1) }
        case .int32(let values): each { UInt64(bitPattern: Int64(values[$0])) }
        case .int64(let values): each { UInt64(bitPattern: values[$0]) }
        case .uint32(let values): each { UInt64(values[$0]) }
        // As files have it, whose numbers are signed.
        case .uint64(let values): each { values[$0] > Int64.max ? null : values[$0] }
        case .float32(let values): each { UInt64(values[$0].bitPattern) }
        case .float64(let values): each { values[$0].bitPattern }
        case .bytes(let offsets, let bytes): each { hash(bytes[Int(offsets[$0])..<Int(offsets[$0 + 1])]) }
        case .dictionary(let indexes, _): each { texts[Int(indexes[$0])] }
        case .list(let offsets, let elements):
            let places = Int(offsets[rows.lowerBound])..<Int(offsets[rows.upperBound])
            var parts = [UInt64](repeating: element, count: places.count)
            let column = ColumnArray(count: places.upperBound, nullCount: 0, validity: [], data: elements)
            add(column, places, to: &parts, from: places.lowerBound, [])
            each { row in
                let own = Int(offsets[row]) - places.lowerBound..<Int(offsets[row + 1]) - places.lowerBound
                return parts[own].reduce(emptyList, mix)
            }
        }
    }

    @inline(__always)
    private static func mix(
        _ column: ColumnArray, _ rows: Range<Int>, into hashes: inout [UInt64], from first: Int, _ value: (Int) -> UInt64
    ) {
        var hashes = hashes.mutableSpan
        if column.validity.isEmpty {
            for row in rows { hashes[row &- first] = mix(hashes[row &- first], value(row)) }
        } else {
            for row in rows { hashes[row &- first] = mix(hashes[row &- first], column.isValid(row) ? value(row) : null) }
        }
    }

    static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var hash = UInt64(bytes.count)
        var (word, count): (UInt64, UInt64) = (0, 0)
        for byte in bytes {
            word |= UInt64(byte) << (8 * count)
            count += 1
            if count == 8 {
                hash = mix(hash, word)
                (word, count) = (0, 0)
            }
        }
        return mix(hash, word)
    }
}
