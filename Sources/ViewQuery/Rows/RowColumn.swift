/// A property of a row that predicates, sort descriptors and indexes may name.
public struct RowColumn<Row>: Sendable {
    /// The name of the row's property, for `explain`.
    public let name: String
    let keyPath: any PartialKeyPath<Row> & Sendable
    /// A `Getter`: values that every row needs are not read through a key path, which costs about fifty nanoseconds.
    let getter: any Sendable
    /// Whether the property is part of the row's key.
    public let isKey: Bool
    /// How the property is stored in keys and indexes; nil if it cannot be.
    var code: ColumnCode<Row>?
    /// Compares the values of two rows, if it is a text; for others the code decides.
    func isSameText(_ left: Row, _ right: Row) -> Bool {
        if let text = getter as? Getter<Row, String> { return text.get(left) == text.get(right) }
        if let text = getter as? Getter<Row, String?> { return text.get(left) == text.get(right) }
        return true
    }
    /// How the property is displayed, and how it is stored if the row defines that.
    var traits = ColumnTraits<Row>()
    /// The role of the nodes that the property names, if the row declares it.
    package var naming: NodeNaming? { traits.naming }

    /// A property outside the key. It can be indexed if it is an `IndexValue`.
    public init<Value: Sendable>(
        _ name: String, _ keyPath: any KeyPath<Row, Value> & Sendable, get: @escaping @Sendable (borrowing Row) -> Value
    ) {
        self.name = name
        self.keyPath = keyPath
        getter = Getter(get)
        isKey = false
        code = ColumnCode(Getter(get), Value.self)
    }

    /// A number of the key, big-endian, in its full width.
    public init<Value: FixedWidthInteger & UnsignedInteger & Sendable>(
        key name: String, _ keyPath: any KeyPath<Row, Value> & Sendable, get: @escaping @Sendable (borrowing Row) -> Value
    ) {
        self.name = name
        self.keyPath = keyPath
        getter = Getter(get)
        isKey = true
        code = ColumnCode(widths: [Value.bitWidth / 8], isOrdered: true) { ($0 as? Value).map { [UInt64($0)] } }
    }

    /// A property that is stored in the key as one or more big-endian numbers whose order is not its order.
    public init<Value: Sendable>(
        key name: String, _ keyPath: any KeyPath<Row, Value> & Sendable, widths: [Int],
        numbers: @escaping @Sendable (Value) -> [UInt64], get: @escaping @Sendable (borrowing Row) -> Value
    ) {
        self.name = name
        self.keyPath = keyPath
        getter = Getter(get)
        isKey = true
        code = ColumnCode(widths: widths, isOrdered: false) { ($0 as? Value).map(numbers) }
    }
}

/// Reads one property of a row.
final class Getter<Row, Value>: Sendable {
    let get: @Sendable (borrowing Row) -> Value

    init(_ get: @escaping @Sendable (borrowing Row) -> Value) { self.get = get }
}
