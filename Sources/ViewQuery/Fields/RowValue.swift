public import ProtobufWire

/// A type that a stored property of a row may have: `RowScalar`s, optionals, arrays and sets of them.
public protocol RowValue: Sendable {
    /// Its stored form, as written in the fingerprint of the rows.
    static var layout: String { get }
    /// The value for which nothing is stored, if the type has one: nil, or no elements.
    static var blank: Self? { get }
    var isBlank: Bool { get }

    func write(_ number: UInt32, to writer: inout WireWriter)
    /// Reads one stored occurrence of the field; a field of another type leaves the value unchanged.
    /// - Throws: `WireError` if the field's bytes break the wire format.
    mutating func take(_ field: WireField, _ reader: borrowing WireReader, isFirst: Bool) throws(WireError)
}

/// A value that is stored as one field.
public protocol RowScalar: RowValue {
    /// - Returns: nil if the field is of another type, or the value is out of range.
    /// - Throws: `WireError` if the field's bytes break the wire format.
    static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Self?

    static var listLayout: String { get }
    static func write(_ list: [Self], _ number: UInt32, to writer: inout WireWriter)
    /// Reads one stored occurrence of a list; a field of another type leaves it unchanged.
    /// - Throws: `WireError` if the field's bytes break the wire format.
    static func take(_ field: WireField, _ reader: borrowing WireReader, into list: inout [Self]) throws(WireError)
}

extension RowScalar {
    public static var blank: Self? { nil }
    public var isBlank: Bool { false }

    public mutating func take(_ field: WireField, _ reader: borrowing WireReader, isFirst: Bool) throws(WireError) {
        if let value = try Self.read(field, reader) { self = value }
    }

    public static var listLayout: String { "repeated \(layout)" }

    public static func write(_ list: [Self], _ number: UInt32, to writer: inout WireWriter) {
        for value in list { value.write(number, to: &writer) }
    }

    public static func take(_ field: WireField, _ reader: borrowing WireReader, into list: inout [Self]) throws(WireError) {
        if let value = try read(field, reader) { list.append(value) }
    }
}

extension Optional: RowValue where Wrapped: RowScalar {
    public static var layout: String { "optional \(Wrapped.layout)" }
    public static var blank: Self? { .some(nil) }
    public var isBlank: Bool { self == nil }

    public func write(_ number: UInt32, to writer: inout WireWriter) { self?.write(number, to: &writer) }

    public mutating func take(_ field: WireField, _ reader: borrowing WireReader, isFirst: Bool) throws(WireError) {
        if let value = try Wrapped.read(field, reader) { self = value }
    }
}

extension Array: RowValue where Element: RowScalar {
    public static var layout: String { Element.listLayout }
    public static var blank: Self? { [] }
    public var isBlank: Bool { isEmpty }

    public func write(_ number: UInt32, to writer: inout WireWriter) { Element.write(self, number, to: &writer) }

    public mutating func take(_ field: WireField, _ reader: borrowing WireReader, isFirst: Bool) throws(WireError) {
        if isFirst { removeAll() }
        try Element.take(field, reader, into: &self)
    }
}

/// Stored in the order of its elements, so that equal rows have equal bytes.
extension Set: RowValue where Element: RowScalar & Comparable {
    public static var layout: String { Element.listLayout }
    public static var blank: Self? { [] }
    public var isBlank: Bool { isEmpty }

    public func write(_ number: UInt32, to writer: inout WireWriter) { Element.write(sorted(), number, to: &writer) }

    public mutating func take(_ field: WireField, _ reader: borrowing WireReader, isFirst: Bool) throws(WireError) {
        var list: [Element] = []
        try Element.take(field, reader, into: &list)
        if isFirst { removeAll() }
        formUnion(list)
    }
}
