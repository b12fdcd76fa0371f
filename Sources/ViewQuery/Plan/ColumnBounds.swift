/// A constant that a column is compared with, by a program that knows columns only by their numbers.
package enum ColumnConstant: Sendable, Hashable {
    case integer(Int64)
    case real(Double)
    case text(String)
}

package enum ColumnTest: String, Sendable, Hashable {
    case equal = "="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
}

/// The stored numbers that a column may have.
package enum ColumnNumberSet: Sendable {
    /// Single values, each with all of its numbers. Empty if no value can match.
    case points([[UInt64]])
    /// A range, for a column with one ordered number.
    case range(ClosedRange<UInt64>)

    package static let none = ColumnNumberSet.points([])

    /// Nil if their common part cannot be expressed.
    package func narrowed(by other: ColumnNumberSet) -> ColumnNumberSet {
        switch (self, other) {
        case (.range(let left), .range(let right)):
            left.overlaps(right)
                ? .range(max(left.lowerBound, right.lowerBound)...min(left.upperBound, right.upperBound)) : .none
        case (.points(let points), .range(let range)), (.range(let range), .points(let points)):
            .points(points.filter { $0.first.map(range.contains) ?? false })
        case (.points(let left), .points(let right)): .points(left.filter(right.contains))
        }
    }
}

/// Compares a column with constants by its numbers in keys and indexes.
///
/// The numbers include those of all matching values; the caller tests again what is found.
package struct ColumnBounds: Sendable {
    /// Whether ranges can be found, not only single values.
    package let isComparable: Bool
    /// Nil if the constant does not bound the column.
    package let numbers: @Sendable (ColumnTest, ColumnConstant) -> ColumnNumberSet?

    package init(isComparable: Bool, numbers: @escaping @Sendable (ColumnTest, ColumnConstant) -> ColumnNumberSet?) {
        (self.isComparable, self.numbers) = (isComparable, numbers)
    }
}

extension RowColumn {
    /// Reads the property if it is of this type, without a key path and without boxing.
    package func reader<Value>(_ type: Value.Type) -> (@Sendable (borrowing Row) -> Value)? {
        (getter as? Getter<Row, Value>)?.get
    }

    /// Nil if keys and indexes cannot find the column's values: it is not stored in them, or displayed as another number than is stored.
    package var bounds: ColumnBounds? {
        guard let code, !kind.isScaled else { return nil }
        func first<each Value: FixedWidthInteger & Sendable>(_ types: repeat (each Value).Type) -> ColumnBounds? {
            for type in repeat each types {
                if let found = integers(type, code) { return found }
            }
            return nil
        }
        let number = first(
            UInt32.self, UInt64.self, UInt8.self, UInt16.self, UInt.self, Int32.self, Int64.self, Int8.self, Int16.self, Int.self)
        return number ?? truths(code) ?? texts(code) ?? cases(code)
    }

    private func integers<Value: FixedWidthInteger & Sendable>(_ type: Value.Type, _ code: ColumnCode<Row>) -> ColumnBounds? {
        let isOptional = valueType == Value?.self
        guard isOptional || valueType == Value.self else { return nil }
        let isComparable = !isOptional && code.isOrdered && code.widths.count == 1
        @Sendable func numbers(_ value: Value) -> [UInt64]? { code.numbers(isOptional ? Value?.some(value) as Any : value) }
        return ColumnBounds(isComparable: isComparable) { test, constant in
            guard let bound = IntegerBound<Value>(test, constant) else { return nil }
            switch bound {
            case .nothing: return ColumnNumberSet.none
            case .value(let value): return numbers(value).map { .points([$0]) }
            case .range(let range):
                guard isComparable, let low = numbers(range.lowerBound)?.first, let high = numbers(range.upperBound)?.first,
                    low <= high
                else { return nil }
                return .range(low...high)
            }
        }
    }

    private func truths(_ code: ColumnCode<Row>) -> ColumnBounds? {
        guard valueType == Bool.self else { return nil }
        return ColumnBounds(isComparable: false) { test, constant in
            guard test == .equal, case .integer(let number) = constant else { return nil }
            guard number == 0 || number == 1 else { return ColumnNumberSet.none }
            return code.numbers(number == 1).map { .points([$0]) }
        }
    }

    private func texts(_ code: ColumnCode<Row>) -> ColumnBounds? {
        guard valueType == String.self else { return nil }
        return ColumnBounds(isComparable: false) { test, constant in
            guard test == .equal, case .text(let text) = constant else { return nil }
            return code.numbers(text).map { .points([$0]) }
        }
    }

    /// An enumeration is displayed by the names of its cases.
    private func cases(_ code: ColumnCode<Row>) -> ColumnBounds? {
        guard let type = valueType as? any CaseIterable.Type else { return nil }
        func all<Type: CaseIterable>(_ type: Type.Type) -> [(String, [UInt64])] {
            type.allCases.compactMap { value in code.numbers(value).map { ("\(value)", $0) } }
        }
        let known = Dictionary(all(type)) { first, _ in first }
        guard !known.isEmpty else { return nil }
        return ColumnBounds(isComparable: false) { test, constant in
            guard test == .equal, case .text(let name) = constant else { return nil }
            return known[name].map { .points([$0]) }
        }
    }
}

/// The values of an integer type for which a comparison with a number can hold.
private enum IntegerBound<Value: FixedWidthInteger> {
    case nothing
    case value(Value)
    case range(ClosedRange<Value>)

    /// Nil for all of them.
    init?(_ test: ColumnTest, _ constant: ColumnConstant) {
        switch constant {
        case .integer(let number): self.init(test, number)
        case .real(let number):
            // Beyond these, integers are compared as they are.
            guard number > -0x1p63, number < 0x1p63 else { return nil }
            let isWhole = number == number.rounded()
            switch test {
            case .equal:
                guard isWhole else {
                    self = .nothing
                    return
                }
                self.init(.equal, Int64(number))
            case .less, .lessOrEqual: self.init(.lessOrEqual, Int64(number.rounded(.down)))
            case .greater, .greaterOrEqual:
                let least = number.rounded(.up)
                guard least < 0x1p63 else { return nil }
                self.init(.greaterOrEqual, Int64(least))
            }
        case .text: return nil
        }
    }

    private init(_ test: ColumnTest, _ number: Int64) {
        switch test {
        case .equal: self = Value(exactly: number).map { .value($0) } ?? .nothing
        case .less:
            guard number > .min else {
                self = .nothing
                return
            }
            self.init(.lessOrEqual, number - 1)
        case .lessOrEqual: self = number < Value.min ? .nothing : .range(Value.min...Value(clamping: number))
        case .greater: self.init(.greaterOrEqual, number == .max ? number : number + 1)
        case .greaterOrEqual: self = number > Value.max ? .nothing : .range(Value(clamping: number)...Value.max)
        }
    }
}
