internal import ProtobufWire

/// The meaning of a property's value, so that programs that know only the row's columns can display it.
public enum ColumnKind: String, Sendable, Hashable {
    case plain
    /// The number of a node; 0 if unknown.
    case node
    /// Seconds since 1970; 0 if unknown.
    case time
    /// Degrees times 10,000,000.
    case degreesE7
    /// A course: degrees times 100,000; unknown above 36,000,000.
    case degreesE5
    /// A number times 100; 0 if unknown.
    case hundredths
    case decibels
    case dBm
    case meters
    case bytes
    case seconds
    case percent

    /// Whether another number than the stored one is displayed.
    public var isScaled: Bool { self == .degreesE7 || self == .degreesE5 || self == .hundredths }
}

/// How tables show a built-in row's property, besides what its kind decides.
package struct TableForm: Sendable {
    package enum Values: Sendable, Equatable {
        case standard
        /// The number of a node, or of a broadcast.
        case addressee
        /// A number; zero means none.
        case unlessZero
        /// A text with few distinct values.
        case name
        /// Numbers of this Meshtastic enumeration.
        case values(of: String)
    }

    /// One sentence; empty if the name says enough.
    package var meaning: String
    package var values: Values
    /// Nil for the unit of the kind.
    package var unit: String?
}

/// The properties of a column other than its name and its place in the key.
struct ColumnTraits<Row>: Sendable {
    var kind = ColumnKind.plain
    /// Computed from other properties, and therefore not stored.
    var isComputed = false
    /// Nil if tables do not show the property.
    var table: TableForm?
    /// How the property is stored, if the row is stored by its columns.
    var field: RowField<Row>?
    /// How the property is stored, for the ledger's built-in rows: see `RowDeclaration`.
    var wire: [RowField<Row>] = []
    /// Only stored, not a column.
    var isHidden = false
    /// The role of the node that the property names; nil if it names none.
    var naming: NodeNaming?
    /// The stored fields behind the property; nil if they are not known, empty for a property of the key.
    var fields: [UInt32]?
    /// The property's part of the key, if the row is stored by its columns.
    var keyPart: RowKeyPart<Row>?
    /// Restores the numbers of the key, if the row is stored by its columns.
    var setKey: (@Sendable (ArraySlice<UInt64>, inout Row) -> Bool)?
}

/// How one property is stored.
struct RowField<Row>: Sendable {
    let number: UInt32
    /// Its text in the fingerprint.
    let layout: String
    /// The same without closures, if the property is a plain number.
    var plain: PlainField?
    let write: @Sendable (borrowing Row, inout WireWriter) -> Void
    /// Whether a row has it once at most.
    var isSingle: Bool { plain.map { $0.form.bits != .fixed32List } ?? false }
    /// Reads one stored occurrence of the field.
    let take: @Sendable (inout Row, WireField, borrowing WireReader, _ isFirst: Bool) throws(WireError) -> Void
}

extension RowColumn {
    /// A bit for each number below 64 of its fields that a row has once at most.
    var singleFields: UInt64 {
        (traits.wire + (traits.field.map { [$0] } ?? [])).reduce(0) { bits, field in
            field.isSingle && field.number < UInt64.bitWidth ? bits | 1 << UInt64(field.number) : bits
        }
    }

    public var kind: ColumnKind { traits.kind }
    /// The number under which the property is stored, if the row is stored by its columns.
    public var fieldNumber: UInt32? { traits.field?.number }
    /// An identifier that survives renaming of the property: its field number, or else the name.
    public var lastingName: String { fieldNumber.map { "#\($0)" } ?? name }
    public var valueType: Any.Type { type(of: keyPath).valueType }

    /// In bytes: how much of the key the property takes; 0 if it is not part of it.
    public var keyLength: Int { isKey ? keyWidths.reduce(0, +) : 0 }
    var keyWidths: [Int] { code?.widths ?? [] }

    /// Whether the column is this property.
    public func isOf(_ property: AnyKeyPath) -> Bool { keyPath as AnyKeyPath == property }

    /// The property.
    package var path: any PartialKeyPath<Row> & Sendable { keyPath }

    public func value(in row: Row) -> Any { row[keyPath: keyPath] }

    /// The same column with the meaning of its values.
    public func shown(as kind: ColumnKind) -> RowColumn {
        var column = self
        column.traits.kind = kind
        return column
    }

    /// How tables show the property; nil if they do not, or in a form of their own.
    package var tableForm: TableForm? { traits.table }
    /// Whether nothing is stored for a zero or an empty text.
    package var isLeftOutIfZero: Bool { traits.wire.first?.plain?.form.absence == .zero }

    /// The same column, which tables, exports and lakes have under its name in snake case.
    package func table(_ meaning: String = "", as values: TableForm.Values = .standard, unit: String? = nil) -> RowColumn {
        var column = self
        column.traits.table = TableForm(meaning: meaning, values: values, unit: unit)
        return column
    }

    /// The same column, computed from stored fields of these numbers and the key: if only chosen properties are requested, no other fields are
    /// decoded for it.
    public func stored(_ numbers: UInt32...) -> RowColumn {
        var column = self
        column.traits.fields = numbers
        return column
    }

    /// The stored fields behind the property; nil if they are not known.
    var fields: [UInt32]? { isKey ? [] : traits.fields ?? traits.field.map { [$0.number] } }

    /// The same column, computed from others, so that it may be added or removed without a new version of the rows.
    public func computed() -> RowColumn {
        var column = self
        column.traits.isComputed = true
        return column
    }
}
