/// How a new version of a row is merged into the stored row: a rule for each property, composed to one value.
///
/// ```swift
/// static let merge = Merge<Sighting>(
///     .keepFilled(\.name), .firstFilled(\.publicKey), .largest(\.lastHeard), .append(\.gateways, most: 32),
///     .lastWrite(by: \.measured, \.sequence, .replace(\.battery)))
///
/// func fold(_ event: MeshEvent, into rows: inout RowEditor<Sighting>) throws {
///     try rows.merge(Sighting(event), by: Self.merge)
/// }
/// ```
/// Properties that no rule names stay as they are. Rules are applied in their order, each to the result of the previous ones.
public struct Merge<Row>: Sendable {
    @usableFromInline let apply: @Sendable (_ stored: inout Row, _ news: borrowing Row) -> Void

    /// All of these rules, one after the other.
    public init(_ rules: Merge<Row>...) {
        let steps = rules.map(\.apply)
        apply = { stored, news in for step in steps { step(&stored, news) } }
    }

    /// A custom rule. It must be pure.
    public init(_ rule: @escaping @Sendable (_ stored: inout Row, _ news: borrowing Row) -> Void) { apply = rule }

    /// Merges the news into the row.
    @inlinable
    public func callAsFunction(_ stored: inout Row, _ news: borrowing Row) { apply(&stored, news) }
}

extension Merge {
    /// The news' value, whatever it is.
    public static func replace<Value>(_ property: any WritableKeyPath<Row, Value> & Sendable) -> Merge {
        Merge { $0[keyPath: property] = $1[keyPath: property] }
    }

    /// The news' value if it is filled: an unfilled value never replaces a filled one.
    public static func keepFilled<Value: Fillable & SendableMetatype>(_ property: any WritableKeyPath<Row, Value> & Sendable)
        -> Merge
    {
        Merge { FieldRule.keepFilled(&$0[keyPath: property], $1[keyPath: property]) }
    }

    /// The first filled value stays.
    public static func firstFilled<Value: Fillable & SendableMetatype>(_ property: any WritableKeyPath<Row, Value> & Sendable)
        -> Merge
    {
        Merge { FieldRule.firstFilled(&$0[keyPath: property], $1[keyPath: property]) }
    }

    /// The news' elements after the existing ones, each once.
    ///
    /// - Parameter most: the maximum number of elements; later ones are ignored.
    public static func append<Element: Equatable & SendableMetatype>(
        _ property: any WritableKeyPath<Row, [Element]> & Sendable, most: Int
    ) -> Merge {
        Merge { FieldRule.append(&$0[keyPath: property], $1[keyPath: property], most: most) }
    }

    public static func largest<Value: Comparable & SendableMetatype>(_ property: any WritableKeyPath<Row, Value> & Sendable)
        -> Merge
    {
        Merge { $0[keyPath: property] = max($0[keyPath: property], $1[keyPath: property]) }
    }

    public static func smallest<Value: Comparable & SendableMetatype>(_ property: any WritableKeyPath<Row, Value> & Sendable)
        -> Merge
    {
        Merge { $0[keyPath: property] = min($0[keyPath: property], $1[keyPath: property]) }
    }

    /// Applies the rules if the news are later than the stored row by a property, or equal in it and later by the next one; then these properties
    /// become those of the news. The row is the same in whatever order the writes come, if the rules are `replace` and no two writes are equal in both
    /// properties: an event's sequence distinguishes any two.
    public static func lastWrite<First: Comparable & SendableMetatype, Second: Comparable & SendableMetatype>(
        by first: any WritableKeyPath<Row, First> & Sendable, _ second: any WritableKeyPath<Row, Second> & Sendable,
        _ rules: Merge<Row>...
    ) -> Merge {
        write(first, second, rules) { $0 < $1 }
    }

    /// Like `lastWrite`, if the news are earlier: the earliest write stays.
    public static func firstWrite<First: Comparable & SendableMetatype, Second: Comparable & SendableMetatype>(
        by first: any WritableKeyPath<Row, First> & Sendable, _ second: any WritableKeyPath<Row, Second> & Sendable,
        _ rules: Merge<Row>...
    ) -> Merge {
        write(first, second, rules) { $1 < $0 }
    }

    private static func write<First: Comparable & SendableMetatype, Second: Comparable & SendableMetatype>(
        _ first: any WritableKeyPath<Row, First> & Sendable, _ second: any WritableKeyPath<Row, Second> & Sendable,
        _ rules: [Merge<Row>], _ wins: @escaping @Sendable ((First, Second), (First, Second)) -> Bool
    ) -> Merge {
        let steps = rules.map(\.apply)
        return Merge { stored, news in
            let new = (news[keyPath: first], news[keyPath: second])
            guard wins((stored[keyPath: first], stored[keyPath: second]), new) else { return }
            for step in steps { step(&stored, news) }
            (stored[keyPath: first], stored[keyPath: second]) = new
        }
    }

    /// A custom rule for one property.
    public static func custom<Value>(
        _ property: any WritableKeyPath<Row, Value> & Sendable, _ rule: @escaping @Sendable (inout Value, Value) -> Void
    ) -> Merge {
        Merge { rule(&$0[keyPath: property], $1[keyPath: property]) }
    }
}
