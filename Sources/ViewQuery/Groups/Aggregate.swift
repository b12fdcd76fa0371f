/// What is calculated from the rows of a group.
///
/// Numbers are converted to `Double`, so integers beyond 2^53 lose their last digits. Rows whose property is nil are left out; if no row remains, the
/// result is nil, and that of `sum` 0.
public struct Aggregate<Row>: Sendable {
    enum Operation: Sendable { case count, minimum, maximum, mean, sum }

    let operation: Operation
    let value: @Sendable (borrowing Row) -> Double?

    /// The number of rows.
    public static var count: Aggregate { Aggregate(operation: .count) { _ in nil } }

    /// The least value.
    public static func min(_ value: @escaping @Sendable (borrowing Row) -> Double?) -> Aggregate {
        Aggregate(operation: .minimum, value: value)
    }

    /// The greatest value.
    public static func max(_ value: @escaping @Sendable (borrowing Row) -> Double?) -> Aggregate {
        Aggregate(operation: .maximum, value: value)
    }

    /// The mean of the values.
    public static func mean(_ value: @escaping @Sendable (borrowing Row) -> Double?) -> Aggregate {
        Aggregate(operation: .mean, value: value)
    }

    /// The sum of the values; 0 if there are none.
    public static func sum(_ value: @escaping @Sendable (borrowing Row) -> Double?) -> Aggregate {
        Aggregate(operation: .sum, value: value)
    }
}

extension Aggregate where Row: QueryRow {
    /// The least value of a property.
    public static func min<Value: AggregableValue>(_ keyPath: any KeyPath<Row, Value> & Sendable) -> Aggregate {
        min(number(keyPath))
    }

    /// The greatest value of a property.
    public static func max<Value: AggregableValue>(_ keyPath: any KeyPath<Row, Value> & Sendable) -> Aggregate {
        max(number(keyPath))
    }

    /// The mean of a property.
    public static func mean<Value: AggregableValue>(_ keyPath: any KeyPath<Row, Value> & Sendable) -> Aggregate {
        mean(number(keyPath))
    }

    /// The sum of a property.
    public static func sum<Value: AggregableValue>(_ keyPath: any KeyPath<Row, Value> & Sendable) -> Aggregate {
        sum(number(keyPath))
    }

    private static func number<Value: AggregableValue>(
        _ keyPath: any KeyPath<Row, Value> & Sendable
    ) -> @Sendable (borrowing Row) -> Double? {
        let get = Row.getter(keyPath)
        return { get($0).aggregable }
    }
}

/// A value that aggregates calculate with: integers, floating-point numbers, and optionals of them.
public protocol AggregableValue: Sendable {
    var aggregable: Double? { get }
}

extension AggregableValue where Self: BinaryInteger {
    public var aggregable: Double? { Double(self) }
}

extension AggregableValue where Self: BinaryFloatingPoint {
    public var aggregable: Double? { Double(self) }
}

extension Int: AggregableValue {}
extension Int8: AggregableValue {}
extension Int16: AggregableValue {}
extension Int32: AggregableValue {}
extension Int64: AggregableValue {}
extension UInt: AggregableValue {}
extension UInt8: AggregableValue {}
extension UInt16: AggregableValue {}
extension UInt32: AggregableValue {}
extension UInt64: AggregableValue {}
extension Float: AggregableValue {}
extension Double: AggregableValue {}

extension Optional: AggregableValue where Wrapped: AggregableValue {
    public var aggregable: Double? { flatMap(\.aggregable) }
}

/// The running state of some aggregates, whose size does not depend on the number of rows.
struct Aggregation<Row> {
    private let aggregates: [Aggregate<Row>]
    private(set) var count = 0
    private var states: [State]

    private struct State {
        var count = 0
        var sum = 0.0
        /// The rounding error of the sum (Neumaier).
        var rest = 0.0
        var least: Double?
        var greatest: Double?

        mutating func add(_ number: Double) {
            count += 1
            let total = sum + number
            if total.isFinite { rest += abs(sum) >= abs(number) ? (sum - total) + number : (number - total) + sum }
            sum = total
            least = least.map { Swift.min($0, number) } ?? number
            greatest = greatest.map { Swift.max($0, number) } ?? number
        }
    }

    init(_ aggregates: [Aggregate<Row>]) {
        self.aggregates = aggregates
        states = Array(repeating: State(), count: aggregates.count)
    }

    mutating func add(_ row: borrowing Row) {
        count += 1
        for index in states.indices {
            if let number = aggregates[index].value(row) { states[index].add(number) }
        }
    }

    var values: [Double?] {
        zip(aggregates, states).map { aggregate, state in
            let sum = state.sum.isFinite ? state.sum + state.rest : state.sum
            return switch aggregate.operation {
            case .count: Double(count)
            case .minimum: state.least
            case .maximum: state.greatest
            case .mean: state.count == 0 ? nil : sum / Double(state.count)
            case .sum: sum
            }
        }
    }
}
