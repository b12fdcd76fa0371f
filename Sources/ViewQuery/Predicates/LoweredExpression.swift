internal import Foundation

/// An expression that restricts the row's key.
protocol LoweredExpression {
    /// The keys for which it can hold; nil if it does not restrict them.
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover?
}

/// A property of the row itself.
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

protocol VariableExpression {
    var key: PredicateExpressions.VariableID { get }
}
extension PredicateExpressions.Variable: VariableExpression {}

extension PredicateExpressions.Value: ConstantExpression {
    var constant: Any? { value }
}

extension PredicateExpressions.NilLiteral: ConstantExpression {
    var constant: Any? { Output.none as Any }
}

func value(of expression: Any) -> Any? { (expression as? any ConstantExpression)?.constant }

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
        guard let side = layout.sides(lhs, rhs) else { return nil }
        return layout.cover(side.place, side.numbers.map { IntervalSet([$0...$0]) }, isExact: !side.isCut)
    }
}

extension PredicateExpressions.NotEqual: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        guard let side = layout.sides(lhs, rhs), side.numbers.count == 1, !side.isCut else { return nil }
        let (number, most) = (side.numbers[0], layout.shape.largest(side.place.numbers.lowerBound))
        var others: [ClosedRange<UInt64>] = []
        if number > 0 { others.append(0...number - 1) }
        if number < most { others.append(number + 1...most) }
        return layout.cover(side.place, [IntervalSet(others)])
    }
}

extension PredicateExpressions.Comparison: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        guard let side = layout.sides(lhs, rhs), side.place.isComparable, !side.isCut else { return nil }
        let (number, span) = (side.numbers[0], side.place.code.span)
        let isBelow = (op == .lessThan || op == .lessThanOrEqual) != side.isSwapped
        let isStrict = op == .lessThan || op == .greaterThan
        let interval: ClosedRange<UInt64>? =
            switch (isBelow, isStrict) {
            case (true, true): number > span.lowerBound ? span.lowerBound...number - 1 : nil
            case (true, false): span.lowerBound...number
            case (false, true): number < span.upperBound ? number + 1...span.upperBound : nil
            case (false, false): number...span.upperBound
            }
        return layout.cover(side.place, [interval.map { IntervalSet([$0]) } ?? .none])
    }
}

extension PredicateExpressions.SequenceContains: LoweredExpression {
    func cover<Row>(_ layout: KeyLayout<Row>) -> KeyCover? {
        guard let place = layout.place(element), let values = value(of: sequence) as? LHS.Output else { return nil }
        if let interval = layout.interval(values, place) { return layout.cover(place, [interval]) }
        var (points, isExact): ([[UInt64]], Bool) = ([], true)
        for value in values {
            guard points.count < KeyCover.mostBoxes * 256, let numbers = place.code.numbers(value) else { return nil }
            points.append(numbers)
            if place.code.isCut(value) { isExact = false }
        }
        if place.numbers.count == 1 { return layout.cover(place, [IntervalSet(points.map { $0[0]...$0[0] })], isExact: isExact) }
        guard points.count <= KeyCover.mostBoxes else { return nil }
        let boxes = Set(points).flatMap { numbers in layout.cover(place, numbers.map { IntervalSet([$0...$0]) }).boxes }
        return KeyCover(boxes: boxes, isExact: isExact)
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
    /// A property of the keys, and the numbers of a constant that it is compared with.
    fileprivate struct Side {
        let place: Place
        /// As if the property ascended.
        let numbers: [UInt64]
        let isCut: Bool
        /// Whether the property is on the right.
        let isSwapped: Bool
    }

    fileprivate func sides(_ left: Any, _ right: Any) -> Side? {
        side(left, value(of: right), isSwapped: false) ?? side(right, value(of: left), isSwapped: true)
    }

    private func side(_ property: Any, _ constant: Any?, isSwapped: Bool) -> Side? {
        guard let place = place(property), let constant, let numbers = place.code.numbers(constant) else { return nil }
        return Side(place: place, numbers: numbers, isCut: place.code.isCut(constant), isSwapped: isSwapped)
    }

    fileprivate func place(_ expression: Any) -> Place? {
        (expression as? any RowProperty)?.property.flatMap { place(of: $0) }
    }

    /// All keys in which the place's numbers are in the sets.
    fileprivate func cover(_ place: Place, _ sets: [IntervalSet], isExact: Bool = true) -> KeyCover {
        var box = all
        for (number, set) in zip(place.numbers, sets) {
            box.numbers[number] = place.isDescending ? set.mirrored(shape.largest(number)) : set
        }
        return KeyCover(boxes: box.isEmpty ? [] : [box], isExact: isExact)
    }

    /// The numbers of a range of values.
    fileprivate func interval(_ range: Any, _ place: Place) -> IntervalSet? {
        guard place.isComparable, let bounds = range as? any BoundedRange, let numbers = bounds.bounds(place.code.numbers)
        else { return nil }
        return numbers.map { IntervalSet([$0]) } ?? IntervalSet.none
    }
}

/// A range with both ends.
private protocol BoundedRange {
    /// The range of the bounds' numbers: nil if they have no numbers, and inner nil if no numbers are between them.
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
