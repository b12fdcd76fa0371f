public import ProtobufWire

/// A plain struct that is stored by its columns: each has a number that never changes, so that rows of older versions stay readable.
public protocol FieldRow: Sendable {
    /// The row with the defaults: the values of properties that older rows do not store.
    init()
    static var columns: [RowColumn<Self>] { get }
}

/// A struct inside a row, stored as a nested message.
public protocol NestedRow: FieldRow, RowScalar {}

/// The row of a custom view: key and value follow from the columns.
///
/// ```swift
/// struct Loudness: StoredRow {
///     var node: UInt32 = 0
///     var packets: UInt64 = 0
///     static let view = "loudness"
///     static let columns: [RowColumn<Loudness>] = [
///         RowColumn(key: "node", \.node, .node), RowColumn(1, "packets", \.packets),
///     ]
/// }
/// ```
public protocol StoredRow: QueryRow, FieldRow {}

extension StoredRow {
    /// The parts of the rows' key, in order.
    package static var keyParts: [RowKeyPart<Self>] { columns.compactMap { $0.traits.keyPart } }
}

extension FieldRow {
    func writeFields(to writer: inout WireWriter) {
        let columns = Self.columns
        for place in columns.indices { columns[place].traits.field?.write(self, &writer) }
    }

    /// Unless the columns changed since, fields come in the order of the columns, so each is looked for after the previous one.
    mutating func takeFields(_ bytes: RawSpan) throws(WireError) {
        let columns = Self.columns
        var last: UInt32 = 0
        var place = 0
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            let number = field.number
            var looked = 0
            while looked < columns.count, columns[place].traits.field?.number != number {
                place = place + 1 == columns.count ? 0 : place + 1
                looked += 1
            }
            guard looked < columns.count, let known = columns[place].traits.field else { continue }
            try known.take(&self, field, reader, number != last)
            last = number
        }
    }
}

extension NestedRow {
    public static var layout: String {
        "{" + columns.compactMap(\.traits.field).map { "\($0.number) \($0.layout)" }.joined(separator: "; ") + "}"
    }

    public func write(_ number: UInt32, to writer: inout WireWriter) { writer.message(number) { writeFields(to: &$0) } }

    public static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Self? {
        guard field.type == .lengthDelimited else { return nil }
        var row = Self()
        try row.takeFields(reader.bytes(field))
        return row
    }
}

extension StoredRow {
    public static var table: String { view }

    /// The row's key: the numbers of its key columns, big-endian.
    public var key: [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(24)
        // By index: copying a column would retain ten references.
        let columns = Self.columns
        for place in columns.indices where columns[place].isKey { columns[place].traits.keyPart?.append(self, to: &key) }
        return key
    }

    /// The stored bytes: all columns that have a number.
    public var value: [UInt8] {
        var writer = WireWriter(capacity: 64)
        writeFields(to: &writer)
        return writer.bytes
    }

    public init?(key: RawSpan, value: RawSpan) {
        self.init()
        var start = 0
        for column in Self.columns where column.isKey {
            guard let setKey = column.traits.setKey else { return nil }
            var numbers: [UInt64] = []
            for width in column.keyWidths {
                guard start + width <= key.byteCount else { return nil }
                var number: UInt64 = 0
                for offset in start..<start + width { number = number << 8 | UInt64(key.byte(at: offset)) }
                numbers.append(number)
                start += width
            }
            guard setKey(numbers[...], &self) else { return nil }
        }
        guard start == key.byteCount else { return nil }
        do {
            try takeFields(value)
        } catch {
            return nil
        }
    }
}
