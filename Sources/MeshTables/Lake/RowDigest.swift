/// A digest of a partition's rows that ignores their order: the sum of the hashes of all rows.
struct RowDigest: Equatable {
    var sum: UInt64 = 0
    var count = 0

    var text: String { "\(count)-\(String(sum, radix: 16))" }

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
        case .uint64(let values): each { values[$0] }
        case .float32(let values): each { UInt64(values[$0].bitPattern) }
        case .float64(let values): each { values[$0].bitPattern }
        case .bytes(let offsets, let bytes): each { hash(bytes[Int(offsets[$0])..<Int(offsets[$0 + 1])]) }
        case .dictionary(let indexes, let dictionary):
            while known.count < dictionary.count { known.append(hash(dictionary.text(known.count))) }
            let texts = known
            each { texts[Int(indexes[$0])] }
        case .list(let offsets, let elements):
            let count = Int(offsets.last ?? 0)
            var parts = [UInt64](repeating: 1, count: count)
            var none: [UInt64] = []
            add(ColumnArray(count: count, nullCount: 0, validity: [], data: elements), to: &parts, &none)
            each { parts[Int(offsets[$0])..<Int(offsets[$0 + 1])].reduce(2, mix) }
        }
    }

    @inline(__always)
    private static func mix(_ column: ColumnArray, into hashes: inout [UInt64], _ value: (Int) -> UInt64) {
        var hashes = hashes.mutableSpan
        if column.validity.isEmpty {
            for index in 0..<column.count { hashes[index] = mix(hashes[index], value(index)) }
        } else {
            for index in 0..<column.count {
                hashes[index] = mix(hashes[index], column.isValid(index) ? value(index) : 0x6e75_6c6c)
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
