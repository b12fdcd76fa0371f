internal import Foundation

/// An expression that says something of the row's key.
protocol LoweredExpression {
    /// The keys for which it can hold; nil where it says nothing of them.
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover?
}

/// A property of the row, or of nothing else.
protocol RowProperty {
    var property: AnyKeyPath? { get }
}

/// A value that does not depend on the row.
protocol ConstantExpression {
    var constant: Any? { get }
}

extension PredicateExpressions.KeyPath: RowProperty {
    var property: AnyKeyPath? { root is any VariableExpression ? keyPath : nil }
}

private protocol VariableExpression {}
extension PredicateExpressions.Variable: VariableExpression {}

extension PredicateExpressions.Value: ConstantExpression {
    var constant: Any? { value }
}

extension PredicateExpressions.ClosedRange: ConstantExpression {
    var constant: Any? {
        guard let low = value(of: lower) as? LHS.Output, let high = value(of: upper) as? LHS.Output, low <= high else {
            return nil
        }
        return low...high
    }
}

extension PredicateExpressions.Range: ConstantExpression {
    var constant: Any? {
        guard let low = value(of: lower) as? LHS.Output, let high = value(of: upper) as? LHS.Output, low <= high else {
            return nil
        }
        return low..<high
    }
}

private func value(of expression: Any) -> Any? { (expression as? any ConstantExpression)?.constant }

// MARK: Logic

extension PredicateExpressions.Conjunction: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        switch (keys(of: lhs, layout), keys(of: rhs, layout)) {
        case (let left?, let right?): left.intersection(right)
        case (let one?, nil), (nil, let one?): KeyCover(boxes: one.boxes, isExact: false)
        case (nil, nil): nil
        }
    }
}

extension PredicateExpressions.Disjunction: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        guard let left = keys(of: lhs, layout), let right = keys(of: rhs, layout) else { return nil }
        return left.union(right)
    }
}

private func keys<Row>(of expression: Any, _ layout: KeyLayout<Row>) -> KeyCover? {
    (expression as? any LoweredExpression)?.cover(layout)
}

// MARK: Comparison

extension PredicateExpressions.Equal: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        guard let (place, numbers, _) = layout.sides(lhs, rhs) else { return nil }
        return layout.cover(place, numbers.map { IntervalSet([$0...$0]) })
    }
}

extension PredicateExpressions.NotEqual: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        guard let (place, numbers, _) = layout.sides(lhs, rhs), numbers.count == 1 else { return nil }
        let most = layout.largest(place.numbers.lowerBound)
        var others: [ClosedRange<UInt64>] = []
        if numbers[0] > 0 { others.append(0...numbers[0] - 1) }
        if numbers[0] < most { others.append(numbers[0] + 1...most) }
        return layout.cover(place, [IntervalSet(others)])
    }
}

extension PredicateExpressions.Comparison: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        guard let (place, numbers, isSwapped) = layout.sides(lhs, rhs), place.column.isOrdered else { return nil }
        let (number, most) = (numbers[0], layout.largest(place.numbers.lowerBound))
        let isBelow = (op == .lessThan || op == .lessThanOrEqual) != isSwapped
        let isStrict = op == .lessThan || op == .greaterThan
        let interval: ClosedRange<UInt64>? =
            switch (isBelow, isStrict) {
            case (true, true): number > 0 ? 0...number - 1 : nil
            case (true, false): 0...number
            case (false, true): number < most ? number + 1...most : nil
            case (false, false): number...most
            }
        return layout.cover(place, [interval.map { IntervalSet([$0]) } ?? .none])
    }
}

extension PredicateExpressions.SequenceContains: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        guard let place = layout.place(element), place.column.widths.count == 1,
            let values = value(of: sequence) as? LHS.Output
        else { return nil }
        if let interval = layout.interval(values, place) { return layout.cover(place, [interval]) }
        var points: [ClosedRange<UInt64>] = []
        for value in values {
            guard points.count < KeyCover.mostBoxes * 256, let numbers = place.column.numbers(value) else { return nil }
            points.append(numbers[0]...numbers[0])
        }
        return layout.cover(place, [IntervalSet(points)])
    }
}

extension PredicateExpressions.RangeExpressionContains: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        guard let place = layout.place(element), let range = value(of: range), let interval = layout.interval(range, place)
        else { return nil }
        return layout.cover(place, [interval])
    }
}

// MARK: The key

extension KeyLayout {
    /// A property of the key and the numbers of a constant, whichever stands on the left.
    fileprivate func sides(_ left: Any, _ right: Any) -> (place: Place, numbers: [UInt64], isSwapped: Bool)? {
        if let place = place(left), let value = value(of: right), let numbers = place.column.numbers(value) {
            return (place, numbers, false)
        }
        if let place = place(right), let value = value(of: left), let numbers = place.column.numbers(value) {
            return (place, numbers, true)
        }
        return nil
    }

    fileprivate func place(_ expression: Any) -> Place? {
        (expression as? any RowProperty)?.property.flatMap { place(of: $0) }
    }

    /// All keys in which the place's numbers are in the sets.
    fileprivate func cover(_ place: Place, _ sets: [IntervalSet]) -> KeyCover {
        var box = KeyBox(numbers: widths.indices.map { IntervalSet([0...largest($0)]) })
        for (number, set) in zip(place.numbers, sets) { box.numbers[number] = set }
        return KeyCover(boxes: box.isEmpty ? [] : [box], isExact: true)
    }

    /// The numbers of a range of values.
    fileprivate func interval(_ range: Any, _ place: Place) -> IntervalSet? {
        guard place.column.isOrdered, let bounds = range as? any BoundedRange, let numbers = bounds.bounds(place.column.numbers)
        else { return nil }
        return numbers.map { IntervalSet([$0]) } ?? IntervalSet.none
    }
}

/// A range with both ends.
private protocol BoundedRange {
    /// The range of the bounds' numbers: nil where they have none, and inside, where there are none between them.
    func bounds(_ numbers: (Any) -> [UInt64]?) -> ClosedRange<UInt64>??
}

extension ClosedRange: BoundedRange {
    fileprivate func bounds(_ numbers: (Any) -> [UInt64]?) -> ClosedRange<UInt64>?? {
        guard let low = numbers(lowerBound)?.first, let high = numbers(upperBound)?.first, low <= high else { return nil }
        return .some(low...high)
    }
}

extension Range: BoundedRange {
    fileprivate func bounds(_ numbers: (Any) -> [UInt64]?) -> ClosedRange<UInt64>?? {
        guard let low = numbers(lowerBound)?.first, let high = numbers(upperBound)?.first, low <= high else { return nil }
        return .some(low < high ? low...high - 1 : nil)
    }
}
