/// Some rows of a table, column by column, in the layout of Arrow's C data interface: bits of validity, offsets, values.
public struct ColumnBatch: Sendable {
    public var rowCount: Int
    public var columns: [ColumnArray]
}

/// The values of one column.
public struct ColumnArray: Sendable {
    public var count: Int
    public var nullCount: Int
    /// A bit for each value, lowest first, 1 if there is a value; empty if nothing is null.
    public var validity: [UInt8]
    public var data: ColumnData

    public func isValid(_ index: Int) -> Bool { validity.isEmpty || validity[index >> 3] >> UInt8(index & 7) & 1 == 1 }

    /// Null in place of numbers from 2^63 on, which signed columns do not have.
    var withoutUnsignedBeyondSigned: ColumnArray {
        guard case .uint64(let values) = data, values.contains(where: { $0 > Int64.max }) else { return self }
        var column = self
        if column.validity.isEmpty { column.validity = Array(repeating: 0xff, count: (count + 7) / 8) }
        for (index, value) in values.enumerated() where value > Int64.max && isValid(index) {
            column.validity[index >> 3] &= ~(1 << UInt8(index & 7))
            column.nullCount += 1
        }
        return column
    }
}

/// Values in an array of their type, with a zero or an empty text for each null.
public indirect enum ColumnData: Sendable {
    /// A bit for each value, the lowest first.
    case bool([UInt8])
    case int32([Int32])
    case int64([Int64])
    case uint32([UInt32])
    case uint64([UInt64])
    case float32([Float])
    case float64([Double])
    /// Texts and bytes: one offset more than values.
    case bytes(offsets: [Int32], bytes: [UInt8])
    case dictionary(indexes: [Int32], ColumnDictionary)
    /// One offset more than lists, and the elements of all of them.
    case list(offsets: [Int32], ColumnData)
}

/// The distinct texts of a column, in the order in which they first occurred. Later batches of the same table add to it.
public struct ColumnDictionary: Sendable {
    public internal(set) var offsets: [Int32] = [0]
    public internal(set) var bytes: [UInt8] = []

    public var count: Int { offsets.count - 1 }

    public func text(_ index: Int) -> ArraySlice<UInt8> { bytes[Int(offsets[index])..<Int(offsets[index + 1])] }
}
