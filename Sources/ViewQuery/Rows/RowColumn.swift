/// A property of a row that predicates and sort descriptors may name.
public struct RowColumn<Row>: Sendable {
    /// As the row's property is called, for `explain`.
    public let name: String
    let keyPath: any PartialKeyPath<Row> & Sendable
    /// A `Getter`: what is asked for every row is not read through a key path, which costs some fifty nanoseconds.
    let getter: any Sendable
    /// The widths, in bytes, of the numbers that the property puts into the key; none where it is no part of it.
    let widths: [Int]
    /// Whether the order of the property's values is that of its numbers in the key.
    let isOrdered: Bool
    let numbers: @Sendable (Any) -> [UInt64]?

    /// A property that is no part of the key.
    public init<Value: Sendable>(
        _ name: String, _ keyPath: any KeyPath<Row, Value> & Sendable, get: @escaping @Sendable (borrowing Row) -> Value
    ) {
        self.name = name
        self.keyPath = keyPath
        getter = Getter(get)
        widths = []
        isOrdered = false
        numbers = { _ in nil }
    }

    /// A number of the key, big-endian, of as many bytes as it has.
    public init<Value: FixedWidthInteger & UnsignedInteger & Sendable>(
        key name: String, _ keyPath: any KeyPath<Row, Value> & Sendable, get: @escaping @Sendable (borrowing Row) -> Value
    ) {
        self.name = name
        self.keyPath = keyPath
        getter = Getter(get)
        widths = [Value.bitWidth / 8]
        isOrdered = true
        numbers = { ($0 as? Value).map { [UInt64($0)] } }
    }

    /// A property that stands in the key as one or more big-endian numbers, whose order says nothing of it.
    public init<Value: Sendable>(
        key name: String, _ keyPath: any KeyPath<Row, Value> & Sendable, widths: [Int],
        numbers: @escaping @Sendable (Value) -> [UInt64], get: @escaping @Sendable (borrowing Row) -> Value
    ) {
        self.name = name
        self.keyPath = keyPath
        getter = Getter(get)
        self.widths = widths
        isOrdered = false
        self.numbers = { ($0 as? Value).map(numbers) }
    }
}

/// Reads one property of a row.
final class Getter<Row, Value>: Sendable {
    let get: @Sendable (borrowing Row) -> Value

    init(_ get: @escaping @Sendable (borrowing Row) -> Value) { self.get = get }
}
