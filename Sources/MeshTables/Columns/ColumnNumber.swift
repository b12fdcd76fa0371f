/// A number or a Boolean that columns store in an array of its type.
public protocol ColumnNumber: BitwiseCopyable, Sendable {
    static var columnType: ColumnType { get }
    static var zero: Self { get }
    static func data(_ values: [Self]) -> ColumnData
    var cell: CellValue { get }
}

extension Int32: ColumnNumber {
    public static var columnType: ColumnType { .int32 }
    public static func data(_ values: [Int32]) -> ColumnData { .int32(values) }
    public var cell: CellValue { .integer(Int64(self)) }
}
extension Int64: ColumnNumber {
    public static var columnType: ColumnType { .int64 }
    public static func data(_ values: [Int64]) -> ColumnData { .int64(values) }
    public var cell: CellValue { .integer(self) }
}
extension UInt32: ColumnNumber {
    public static var columnType: ColumnType { .uint32 }
    public static func data(_ values: [UInt32]) -> ColumnData { .uint32(values) }
    public var cell: CellValue { .unsigned(UInt64(self)) }
}
extension UInt64: ColumnNumber {
    public static var columnType: ColumnType { .uint64 }
    public static func data(_ values: [UInt64]) -> ColumnData { .uint64(values) }
    public var cell: CellValue { .unsigned(self) }
}
extension Float: ColumnNumber {
    public static var columnType: ColumnType { .float32 }
    public static func data(_ values: [Float]) -> ColumnData { .float32(values) }
    public var cell: CellValue { .float(self) }
}
extension Double: ColumnNumber {
    public static var columnType: ColumnType { .float64 }
    public static func data(_ values: [Double]) -> ColumnData { .float64(values) }
    public var cell: CellValue { .double(self) }
}
extension Bool: ColumnNumber {
    public static var columnType: ColumnType { .bool }
    public static var zero: Bool { false }
    public var cell: CellValue { .bool(self) }
    public static func data(_ values: [Bool]) -> ColumnData {
        var bits = [UInt8](repeating: 0, count: (values.count + 7) / 8)
        for (index, value) in values.enumerated() where value { bits[index >> 3] |= 1 << UInt8(index & 7) }
        return .bool(bits)
    }
}
