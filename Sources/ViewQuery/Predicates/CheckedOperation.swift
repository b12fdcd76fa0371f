/// An operation on two numbers that throws, instead of crashing, if the result does not fit into their type.
final class CheckedOperation<Number> {
    private let word: String
    private let apply: (Number, Number) -> Number?

    init(_ word: String, _ apply: @escaping (Number, Number) -> Number?) {
        self.word = word
        self.apply = apply
    }

    func result(_ left: Number, _ right: Number) throws(QueryError) -> Number {
        guard let result = apply(left, right) else {
            throw QueryError(.noValue, "the predicate calculates \(left) \(word) \(right), which is not a \(Number.self)")
        }
        return result
    }
}

extension CheckedOperation where Number: Numeric {
    static var adding: CheckedOperation {
        exact { $0.sum() } ?? CheckedOperation("+") { $0 + $1 }
    }

    static var subtracting: CheckedOperation {
        exact { $0.difference() } ?? CheckedOperation("-") { $0 - $1 }
    }

    static var multiplying: CheckedOperation {
        exact { $0.product() } ?? CheckedOperation("*") { $0 * $1 }
    }
}

extension CheckedOperation where Number: BinaryInteger {
    static var dividing: CheckedOperation {
        exact { $0.quotient() } ?? CheckedOperation("/") { $1 == 0 ? nil : $0 / $1 }
    }

    static var remainder: CheckedOperation {
        exact { $0.rest() } ?? CheckedOperation("%") { $1 == 0 ? nil : $0 % $1 }
    }
}

extension CheckedOperation {
    /// The operation for integers of a fixed width; nil for other numbers.
    private static func exact(_ operation: (any FixedWidthInteger.Type) -> Any) -> CheckedOperation? {
        (Number.self as? any FixedWidthInteger.Type).flatMap { operation($0) as? CheckedOperation }
    }
}

extension FixedWidthInteger {
    fileprivate static func sum() -> Any { checked("+") { $0.addingReportingOverflow($1) } }
    fileprivate static func difference() -> Any { checked("-") { $0.subtractingReportingOverflow($1) } }
    fileprivate static func product() -> Any { checked("*") { $0.multipliedReportingOverflow(by: $1) } }
    fileprivate static func quotient() -> Any { checked("/") { $0.dividedReportingOverflow(by: $1) } }
    fileprivate static func rest() -> Any { checked("%") { $0.remainderReportingOverflow(dividingBy: $1) } }

    private static func checked(
        _ word: String, _ apply: @escaping (Self, Self) -> (partialValue: Self, overflow: Bool)
    ) -> CheckedOperation<Self> {
        CheckedOperation(word) { left, right in
            let (value, overflow) = apply(left, right)
            return overflow ? nil : value
        }
    }
}
