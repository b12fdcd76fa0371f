import EventLog
import Foundation
import ProtobufWire

/// A column of a row: what it is called and means, and how its values are read, many rows at a time.
///
/// ```swift
/// TableColumn("snr", .number { $0.snr }, of: \.snr, unit: "dB", meaning: "How much stronger than the noise the packet was received.")
/// ```
public struct TableColumn<Row>: Sendable {
    public var schema: ColumnSchema
    let reader: ColumnReader<Row>

    public var name: String { schema.name }

    /// The names that its values have; nil where they are not names.
    package var names: KnownNames? { reader.names }

    /// The value of one row.
    public func cell(of row: Row) -> CellValue { reader.cell(row) }

    package var cell: @Sendable (Row) -> CellValue { reader.cell }

    /// The row's properties that it is made from; empty if they are not declared, since it may then need any of them.
    let properties: [any PartialKeyPath<Row> & Sendable]
    /// Whether it is its only or first property, perhaps in another form, so that keys and indexes of the property find it.
    let isProperty: Bool
    /// Whether it depends on more than the row: on names of nodes and sources, or on the current time.
    package let isContextual: Bool

    /// - Parameters:
    ///   - property: the property whose value it has, followed by those that decide whether it has one.
    ///   - parts: the properties that it is computed from, if it is not itself one of them.
    ///   - isContextual: whether it depends on more than the row, so that it needs a `TableContext`.
    public init(
        _ name: String, _ reader: ColumnReader<Row>, of property: (any PartialKeyPath<Row> & Sendable)...,
        from parts: (any PartialKeyPath<Row> & Sendable)..., isContextual: Bool = false, unit: String? = nil, meaning: String = ""
    ) {
        schema = ColumnSchema(name, reader.type, isNullable: reader.isNullable, unit: unit, meaning: meaning)
        self.reader = reader
        properties = property + parts
        isProperty = !property.isEmpty
        self.isContextual = isContextual
    }
}

/// A column's values, and what adds those of more rows.
struct RowBuilder<Row> {
    let values: ColumnBuilder
    let readInMemory: (RowsInMemory<Row>) -> Void

    func read(_ rows: [Row]) { RowsInMemory.of(rows, readInMemory) }
}

/// Reads one property of many rows into a column.
///
/// It runs a loop instead of a call for each cell; the loop is specialised if the row's type is known.
public struct ColumnReader<Row>: Sendable {
    let type: ColumnType
    let isNullable: Bool
    let makeBuilder: @Sendable () -> RowBuilder<Row>
    /// The value of one row, for those that print row by row.
    let cell: @Sendable (Row) -> CellValue
    private(set) var names: KnownNames?
    /// The text of a number that stands for one; nil for other columns.
    private(set) var codeText: (@Sendable (UInt32) -> String?)?

    @inline(__always)
    private init<Builder: ColumnBuilder>(
        _ type: ColumnType, isNullable: Bool, cell: @escaping @Sendable (Row) -> CellValue,
        _ make: @escaping @Sendable () -> Builder, _ read: @escaping @Sendable (RowsInMemory<Row>, Builder) -> Void
    ) {
        self.type = type
        self.isNullable = isNullable
        self.cell = cell
        makeBuilder = {
            let builder = make()
            return RowBuilder(values: builder) { read($0, builder) }
        }
    }

    /// The values of a property that is at this offset of each row.
    init(_ property: PropertyReader, at offset: Int) {
        type = property.type
        isNullable = property.isNullable
        names = property.names
        codeText = property.codeText
        cell = { row in RowsInMemory.of(row) { property.cell($0.property(UInt8.self, at: offset)) } }
        makeBuilder = {
            let builder = property.makeBuilder()
            return RowBuilder(values: builder.values) { builder.readInMemory($0.property(UInt8.self, at: offset)) }
        }
    }

    /// The same of which all names are known: conditions that name another are refused.
    package func named(_ names: KnownNames) -> ColumnReader {
        var reader = self
        reader.names = names
        return reader
    }

    /// A number or a Boolean that every row has.
    public static func number<Value: ColumnNumber>(_ get: @escaping @Sendable (Row) -> Value) -> ColumnReader {
        ColumnReader(Value.columnType, isNullable: false, cell: { get($0).cell }, { NumberBuilder<Value>() }) { rows, builder in
            builder.append(rows, get)
        }
    }

    /// A number or a Boolean that rows may lack.
    public static func optional<Value: ColumnNumber>(_ get: @escaping @Sendable (Row) -> Value?) -> ColumnReader {
        optional(Value.columnType, cell: { get($0)?.cell ?? .null }, get)
    }

    private static func optional<Value: ColumnNumber>(
        _ type: ColumnType, cell: @escaping @Sendable (Row) -> CellValue, _ get: @escaping @Sendable (Row) -> Value?
    ) -> ColumnReader {
        ColumnReader(type, isNullable: true, cell: cell, { NumberBuilder<Value>() }) { rows, builder in
            builder.appendOptional(rows, get)
        }
    }

    /// Seconds since 1970; 0 means no time.
    public static func time(_ get: @escaping @Sendable (Row) -> UInt32) -> ColumnReader {
        optional(.seconds, cell: { .time(get($0)) }) { row in
            let seconds = get(row)
            return seconds == 0 ? nil : Int64(seconds)
        }
    }

    /// Microseconds since 1970.
    public static func instant(_ get: @escaping @Sendable (Row) -> Int64?) -> ColumnReader {
        optional(.microseconds, cell: { row in get(row).map { .instant(Timestamp(microseconds: $0)) } ?? .null }, get)
    }

    public static func text(_ get: @escaping @Sendable (Row) -> String) -> ColumnReader {
        ColumnReader(.utf8, isNullable: false, cell: { .text(get($0)) }, { TextBuilder() }) { rows, builder in
            for index in 0..<rows.count {
                builder.append(get(rows[index]))
                builder.validity.append(true)
            }
        }
    }

    /// A text that rows may lack.
    public static func optionalText(_ get: @escaping @Sendable (Row) -> String?) -> ColumnReader {
        texts(.utf8, cell: { row in get(row).map { .text($0) } ?? .null }, get)
    }

    /// A nested value, which columns have as JSON text.
    public static func json(_ get: @escaping @Sendable (Row) -> CellValue) -> ColumnReader {
        texts(.json, cell: get) { row in
            let value = get(row)
            return value == .null ? nil : value.json
        }
    }

    /// A nested value that is JSON text already.
    static func json(text get: @escaping @Sendable (Row) -> String?) -> ColumnReader {
        texts(.json, cell: { row in get(row).map { .text($0) } ?? .null }, get)
    }

    private static func texts(
        _ type: ColumnType, cell: @escaping @Sendable (Row) -> CellValue, _ get: @escaping @Sendable (Row) -> String?
    ) -> ColumnReader {
        ColumnReader(type, isNullable: true, cell: cell, { TextBuilder() }) { rows, builder in
            for index in 0..<rows.count {
                let text = get(rows[index])
                builder.validity.append(text != nil)
                if let text { builder.append(text) } else { builder.appendNothing() }
            }
        }
    }

    /// Bytes that rows may lack.
    public static func binary(_ get: @escaping @Sendable (Row) -> [UInt8]?) -> ColumnReader {
        ColumnReader(
            .binary, isNullable: true, cell: { row in get(row).map { .text(Hexadecimal.text($0)) } ?? .null }, { TextBuilder() }
        ) { rows, builder in
            for index in 0..<rows.count {
                let bytes = get(rows[index])
                builder.validity.append(bytes != nil)
                if let bytes { builder.append(bytes) } else { builder.appendNothing() }
            }
        }
    }

    /// A text with few distinct values.
    public static func name(_ get: @escaping @Sendable (Row) -> String?) -> ColumnReader {
        ColumnReader(
            .dictionary, isNullable: true, cell: { row in get(row).map { .text($0) } ?? .null }, { DictionaryBuilder() }
        ) { rows, builder in
            builder.append(rows, get)
        }
    }

    /// The same of values that lists have in another form.
    static func name(cell: @escaping @Sendable (Row) -> CellValue) -> ColumnReader {
        ColumnReader(.dictionary, isNullable: true, cell: cell, { DictionaryBuilder() }) { rows, builder in
            builder.append(rows) { row in
                let value = cell(row)
                return value == .null ? nil : value.plain
            }
        }
    }

    /// A number that stands for a text, which is looked up once; nil if it stands for nothing.
    ///
    /// - Parameter areNamesUnique: whether no two numbers have the same name, which saves comparing the names.
    public static func code(
        isNullable: Bool = true, areNamesUnique: Bool = false, _ get: @escaping @Sendable (Row) -> UInt32,
        name: @escaping @Sendable (UInt32) -> String?
    ) -> ColumnReader {
        code(
            isNullable: isNullable, areNamesUnique, cell: { row in name(get(row)).map { .text($0) } ?? .null }, get, name: name)
    }

    private static func code(
        isNullable: Bool, _ areNamesUnique: Bool, cell: @escaping @Sendable (Row) -> CellValue,
        _ get: @escaping @Sendable (Row) -> UInt32, name: @escaping @Sendable (UInt32) -> String?
    ) -> ColumnReader {
        var reader = ColumnReader(.dictionary, isNullable: isNullable, cell: cell, { DictionaryBuilder() }) { rows, builder in
            builder.append(rows, code: get, name: name, areNamesUnique: areNamesUnique)
        }
        reader.codeText = name
        return reader
    }

    /// The case of an enumeration, by its name. The names are made once: each is looked up in the program's metadata.
    public static func enumeration<Value: RawRepresentable & SendableMetatype>(_ get: @escaping @Sendable (Row) -> Value)
        -> ColumnReader
    where Value.RawValue == UInt8 {
        let names = (UInt8.min...UInt8.max).map { number in Value(rawValue: number).map { "\($0)" } }
        let cells = names.map { $0.map { CellValue.text($0) } ?? .null }
        return code(isNullable: false, false, cell: { cells[Int(get($0).rawValue)] }) {
            UInt32(get($0).rawValue)
        } name: { number in
            names[Int(UInt8(truncatingIfNeeded: number))]
        }.named(.these(names.compactMap(\.self)))
    }

    public static func texts<Texts: Sequence<String> & SendableMetatype>(_ get: @escaping @Sendable (Row) -> Texts)
        -> ColumnReader
    {
        ColumnReader(
            .list(.utf8), isNullable: false, cell: { .list(get($0).map { .text($0) }) }, { ListBuilder(hasNumbers: false) }
        ) { rows, builder in
            for index in 0..<rows.count { builder.append(get(rows[index])) }
        }
    }

    public static func numbers<Numbers: Sequence<UInt64> & SendableMetatype>(_ get: @escaping @Sendable (Row) -> Numbers)
        -> ColumnReader
    {
        ColumnReader(
            .list(.uint64), isNullable: false, cell: { .list(get($0).map { .unsigned($0) }) }, { ListBuilder(hasNumbers: true) }
        ) { rows, builder in
            for index in 0..<rows.count { builder.append(get(rows[index])) }
        }
    }
}
