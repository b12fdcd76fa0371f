/// How a property is stored in keys: as one or more big-endian numbers.
struct ColumnCode<Row>: Sendable {
    /// In bytes, of each of the numbers.
    let widths: [Int]
    /// Whether the order of the property's values is that of its numbers, and the one that sort descriptors use.
    let isOrdered: Bool
    /// For a property with one ordered number: the numbers of values that can be compared.
    let span: ClosedRange<UInt64>
    /// The numbers of a value of the property's type.
    let numbers: @Sendable (Any) -> [UInt64]?
    /// Whether another value has the same numbers.
    let isCut: @Sendable (Any) -> Bool
    /// Appends the bytes of a row's property; nil if they are copied from the row's key.
    let append: (@Sendable (borrowing Row, inout [UInt8]) -> Void)?
    /// Whether a row lacks the value; nil if every row has one.
    let isNil: (@Sendable (Row) -> Bool)?

    /// For a property of the key.
    init(widths: [Int], isOrdered: Bool, numbers: @escaping @Sendable (Any) -> [UInt64]?) {
        self.widths = widths
        self.isOrdered = isOrdered
        span = 0...KeyShape.largest(width: widths[0])
        self.numbers = numbers
        isCut = { _ in false }
        append = nil
        isNil = nil
    }

    /// For a property outside the key; nil if it is not an `IndexValue`.
    init?<Value>(_ getter: Getter<Row, Value>, _ type: Value.Type) {
        guard let type = type as? any IndexValue.Type, let code = Self.make(getter, type) else { return nil }
        self = code
    }

    private init<Value: IndexValue>(_ getter: Getter<Row, Value>, of type: Value.Type) {
        let (get, widths) = (getter.get, Value.indexWidths)
        self.widths = widths
        isOrdered = Value.isIndexOrdered
        span = Value.indexSpan ?? 0...KeyShape.largest(width: widths[0])
        numbers = { value in
            guard let value = value as? Value else { return nil }
            var bytes: [UInt8] = []
            value.appendIndexBytes(to: &bytes)
            return Self.numbers(bytes, widths)
        }
        isCut = { ($0 as? Value)?.isIndexCut ?? false }
        append = { row, bytes in get(row).appendIndexBytes(to: &bytes) }
        isNil = { get($0).isIndexNil }
    }

    private static func make<Value: IndexValue>(_ getter: Any, _ type: Value.Type) -> ColumnCode? {
        (getter as? Getter<Row, Value>).map { ColumnCode($0, of: type) }
    }

    private static func numbers(_ bytes: [UInt8], _ widths: [Int]) -> [UInt64] {
        var start = 0
        return widths.map { width in
            defer { start += width }
            return bytes[start..<start + width].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}
