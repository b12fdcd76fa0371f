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

    /// A hash of each row of a batch.
    static func hashes(_ batch: ColumnBatch, seed: UInt64, _ names: inout [Int: [UInt64]]) -> [UInt64] {
        var hashes = [UInt64](repeating: seed, count: batch.rowCount)
        for (place, column) in batch.columns.enumerated() {
            var known = names[place] ?? []
            add(column, to: &hashes, &known)
            names[place] = known
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

    private static func add(_ column: ColumnArray, to hashes: inout [UInt64], _ known: inout [UInt64]) {
        @inline(__always)
        func each(_ value: (Int) -> UInt64) { mix(column, into: &hashes, value) }
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
        case .dictionary(let indexes, let dictionary):
            while known.count < dictionary.count { known.append(hash(dictionary.text(known.count))) }
            let texts = known
            each { texts[Int(indexes[$0])] }
        case .list(let offsets, let elements):
            let count = Int(offsets.last ?? 0)
            var parts = [UInt64](repeating: element, count: count)
            var none: [UInt64] = []
            add(ColumnArray(count: count, nullCount: 0, validity: [], data: elements), to: &parts, &none)
            each { parts[Int(offsets[$0])..<Int(offsets[$0 + 1])].reduce(emptyList, mix) }
        }
    }

    @inline(__always)
    private static func mix(_ column: ColumnArray, into hashes: inout [UInt64], _ value: (Int) -> UInt64) {
        var hashes = hashes.mutableSpan
        if column.validity.isEmpty {
            for index in 0..<column.count { hashes[index] = mix(hashes[index], value(index)) }
        } else {
            for index in 0..<column.count {
                hashes[index] = mix(hashes[index], column.isValid(index) ? value(index) : null)
            }
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
