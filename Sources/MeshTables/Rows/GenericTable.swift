import Foundation
public import MeshLedger
import ProtobufWire

/// Rows that are known only by their declared properties, such as those of custom views.
public enum GenericTable {
    public static func unit(_ kind: ColumnKind) -> String? {
        switch kind {
        case .decibels: "dB"
        case .dBm: "dBm"
        case .meters: "m"
        case .bytes: "B"
        case .seconds: "s"
        case .percent: "%"
        case .degreesE5, .degreesE7: "°"
        case .plain, .node, .time, .hundredths: nil
        }
    }

    public static func schema<Row: QueryRow>(_ rows: Row.Type) -> TableSchema {
        TableSchema(name: Row.table, columns: columns(rows).map(\.schema))
    }

    public static func columns<Row: QueryRow>(_ rows: Row.Type) -> [TableColumn<Row>] {
        Row.columns.map { column in TableColumn(column.name.snakeCased, reader(column), of: column.path, unit: unit(column.kind))
        }
    }

    /// The first property that is a time, in seconds since 1970.
    static func time<Row: QueryRow>(_ rows: Row.Type) -> ((Row) -> Int64?)? {
        guard let column = Row.columns.first(where: { $0.kind == .time }), let get = number(column) else { return nil }
        return { row in get(row).flatMap { $0 == 0 ? nil : $0 } }
    }

    private static func reader<Row: QueryRow>(_ column: RowColumn<Row>) -> ColumnReader<Row> {
        switch column.kind {
        case .node:
            if let get = number(column) {
                return .code({ UInt32(exactly: get($0) ?? 0) ?? 0 }) { $0 == 0 ? nil : NodeID.addressee($0) }
            }
        case .time: if let get = number(column) { return .time { UInt32(clamping: get($0) ?? 0) } }
        case .degreesE7: if let get = number(column) { return .optional { row in get(row).map { Double($0) / 1e7 } } }
        case .degreesE5:
            if let get = number(column) {
                return .optional { row in Position.course(groundTrack: get(row).map { UInt32(clamping: $0) }) }
            }
        case .hundredths:
            if let get = number(column) {
                return .optional { row in get(row).flatMap { Position.dilution(hundredths: UInt32(clamping: $0)) } }
            }
        default: break
        }
        return plain(column) ?? list(column) ?? .json { CellValue(of: column.value(in: $0), column.kind) }
    }

    /// Any integer that 64 bits hold, or an optional of one.
    private static func number<Row: QueryRow>(_ column: RowColumn<Row>) -> (@Sendable (Row) -> Int64?)? {
        func find<Value: FixedWidthInteger & Sendable>(_ type: Value.Type) -> (@Sendable (Row) -> Int64?)? {
            if let get: @Sendable (borrowing Row) -> Value = Row.column(named: column.name) {
                return { Int64(clamping: get($0)) }
            }
            if let get: @Sendable (borrowing Row) -> Value? = Row.column(named: column.name) {
                return { row in get(row).map { Int64(clamping: $0) } }
            }
            return nil
        }
        return find(UInt32.self) ?? find(Int32.self) ?? find(UInt64.self) ?? find(Int64.self) ?? find(UInt8.self)
            ?? find(UInt16.self) ?? find(Int8.self) ?? find(Int16.self) ?? find(Int.self) ?? find(UInt.self)
    }

    private static func plain<Row: QueryRow>(_ column: RowColumn<Row>) -> ColumnReader<Row>? {
        func same<Value: ColumnNumber>(_ type: Value.Type) -> ColumnReader<Row>? { converted(column) { (value: Value) in value } }
        if let reader = same(UInt32.self) ?? same(UInt64.self) ?? same(Int32.self) ?? same(Int64.self) { return reader }
        if let reader = same(Bool.self) ?? same(Float.self) ?? same(Double.self) { return reader }
        if let reader = converted(column, { (value: UInt8) in UInt32(value) }) { return reader }
        if let reader = converted(column, { (value: UInt16) in UInt32(value) }) { return reader }
        if let reader = converted(column, { (value: Int8) in Int32(value) }) { return reader }
        if let reader = converted(column, { (value: Int16) in Int32(value) }) { return reader }
        if let reader = converted(column, { (value: Int) in Int64(value) }) { return reader }
        if let reader = converted(column, { (value: UInt) in UInt64(value) }) { return reader }
        if let reader = text(column, { (value: String) in value }) { return reader }
        if let reader = text(column, { (value: [UInt8]) in Hexadecimal.text(value) }) { return reader }
        if let reader = text(column, { (value: Data) in Hexadecimal.text(value) }) { return reader }
        if let get: @Sendable (borrowing Row) -> Date = Row.column(named: column.name) {
            return .instant { CellValue.microseconds(get($0)) }
        }
        if let get: @Sendable (borrowing Row) -> Date? = Row.column(named: column.name) {
            return .instant { row in get(row).flatMap { CellValue.microseconds($0) } }
        }
        guard column.valueType is any RawRepresentable.Type else { return nil }
        return .name(cell: { CellValue(of: column.value(in: $0), column.kind) })
    }

    private static func converted<Row: QueryRow, Value: Sendable, Number: ColumnNumber>(
        _ column: RowColumn<Row>, _ convert: @escaping @Sendable (Value) -> Number
    ) -> ColumnReader<Row>? {
        if let get: @Sendable (borrowing Row) -> Value = Row.column(named: column.name) { return .number { convert(get($0)) } }
        guard let get: @Sendable (borrowing Row) -> Value? = Row.column(named: column.name) else { return nil }
        return .optional { get($0).map(convert) }
    }

    /// An empty text means none.
    private static func text<Row: QueryRow, Value: Sendable>(
        _ column: RowColumn<Row>, _ convert: @escaping @Sendable (Value) -> String
    ) -> ColumnReader<Row>? {
        if let get: @Sendable (borrowing Row) -> Value = Row.column(named: column.name) {
            return .textOrNone { convert(get($0)) }
        }
        guard let get: @Sendable (borrowing Row) -> Value? = Row.column(named: column.name) else { return nil }
        return .textOrNone { get($0).map(convert) ?? "" }
    }

    private static func list<Row: QueryRow>(_ column: RowColumn<Row>) -> ColumnReader<Row>? {
        if let get: @Sendable (borrowing Row) -> [String] = Row.column(named: column.name) { return .texts { get($0) } }
        guard column.kind == .node || column.kind == .plain else { return nil }
        if let get: @Sendable (borrowing Row) -> [UInt32] = Row.column(named: column.name) {
            if column.kind == .node { return .texts { row in get(row).map { NodeID.text($0) } } }
            return .numbers { row in get(row).map { UInt64($0) } }
        }
        if let get: @Sendable (borrowing Row) -> [UInt64] = Row.column(named: column.name), column.kind == .plain {
            return .numbers { get($0) }
        }
        return nil
    }
}
