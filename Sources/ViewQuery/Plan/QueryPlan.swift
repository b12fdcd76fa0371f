internal import Foundation

/// How a query is answered.
struct QueryPlan<Row: QueryRow> {
    let layout = KeyLayout<Row>()
    /// The keys to look at; nil for all.
    let cover: KeyCover?
    /// What is asked of each of their rows; nil where the keys say it all.
    let filter: ((borrowing Row) throws(QueryError) -> Bool)?
    /// What the rows are sorted by after they were read; nil where the keys' order is the one that is wanted.
    let order: [SortDescriptor<Row>]?
    /// Whether the keys are gone through from the last to the first.
    let isReversed: Bool

    init(_ descriptor: FetchDescriptor<Row>) throws(QueryError) {
        var (cover, filter): (KeyCover?, ((borrowing Row) throws(QueryError) -> Bool)?) = (nil, nil)
        if let predicate = descriptor.predicate {
            cover = (predicate.expression as? any LoweredExpression)?.cover(layout)
            if cover?.isExact != true { filter = try Self.filter(predicate) }
        }
        if descriptor.requiresIndex, cover == nil {
            throw QueryError(
                .needsScan,
                "no part of the predicate is about the key of \(Row.view) (\(layout.places.map(\.column.name).joined(separator: ", "))), so every row would be read"
            )
        }
        self.cover = cover
        self.filter = filter
        let isForward = Self.isKeyOrder(descriptor.sortBy, layout, cover, .forward)
        isReversed = !isForward && Self.isKeyOrder(descriptor.sortBy, layout, cover, .reverse)
        order = isForward || isReversed ? nil : descriptor.sortBy
    }

    private static func filter(_ predicate: Predicate<Row>) throws(QueryError) -> (borrowing Row) throws(QueryError) -> Bool {
        guard let expression = predicate.expression as? any CompiledExpression<Bool> else {
            throw QueryError(
                .unsupported, "the predicate uses what this version cannot evaluate: \(Self.name(of: predicate.expression))")
        }
        return try expression.compiled(Compilation<Row>(predicate.variable.key))
    }

    private static func name(of expression: Any) -> String {
        String(describing: type(of: expression)).replacing("PredicateExpressions.", with: "")
    }

    /// Whether the keys' order, or its reverse, is that of the descriptors. Properties that have only one value do not matter.
    private static func isKeyOrder(
        _ descriptors: [SortDescriptor<Row>], _ layout: KeyLayout<Row>, _ cover: KeyCover?, _ order: SortOrder
    ) -> Bool {
        var places = layout.places[...]
        let fixed = cover?.boxes.count == 1 ? cover?.boxes[0].numbers.map { $0.point != nil } : nil
        func isFixed(_ place: KeyLayout<Row>.Place) -> Bool { place.numbers.allSatisfy { fixed?[$0] == true } }
        for descriptor in descriptors {
            guard let keyPath = descriptor.keyPath else { return false }
            if let place = layout.place(of: keyPath), isFixed(place) { continue }
            while let first = places.first, isFixed(first) { places.removeFirst() }
            guard let next = places.popFirst(), next.column.keyPath as AnyKeyPath == keyPath, next.column.isOrdered,
                descriptor.order == order
            else { return false }
        }
        return true
    }
}

/// What a query costs, in words and in the numbers behind them.
public struct QueryExplanation: Sendable, CustomStringConvertible {
    public enum Access: String, Sendable {
        /// Every row of the view.
        case scan
        /// The rows between two keys, or at some.
        case ranges
        /// Rows at many places, each found by a seek: the properties in front of the key are not bounded.
        case skippingScan
    }

    public let view: String
    public let access: Access
    /// The properties of the key that bound what is read.
    public let bounded: [String]
    /// Whether rows are decoded and asked one by one.
    public let isFiltered: Bool
    /// Whether rows are gathered and sorted, instead of being read in order.
    public let isSorted: Bool

    public var description: String {
        let reading =
            switch access {
            case .scan: "every row of \(view)"
            case .ranges: "rows of \(view) by key: \(bounded.joined(separator: ", "))"
            case .skippingScan: "rows of \(view) by seeks over the keys: \(bounded.joined(separator: ", "))"
            }
        return reading + (isFiltered ? "; each is asked whether it fits" : "") + (isSorted ? "; then they are sorted" : "")
    }

    init<Row>(_ plan: QueryPlan<Row>) {
        view = Row.view
        isFiltered = plan.filter != nil
        isSorted = plan.order != nil
        guard let cover = plan.cover else {
            (access, bounded) = (.scan, [])
            return
        }
        let layout = plan.layout
        func isBounded(_ place: KeyLayout<Row>.Place) -> Bool {
            cover.boxes.allSatisfy { box in
                place.numbers.contains { box.numbers[$0] != IntervalSet([0...layout.largest($0)]) }
            }
        }
        let places = layout.places.filter(isBounded)
        bounded = places.map(\.column.name)
        let isFirst = places.first?.numbers.lowerBound == 0 || cover.boxes.isEmpty
        access = isFirst ? .ranges : .skippingScan
    }
}
