internal import Foundation

/// How a query is answered.
struct QueryPlan<Row: QueryRow> {
    /// Where rows are looked up: by their keys, by one index, or by several, in which case a row may be found more than once.
    let sources: [KeySource<Row>]
    /// A part of a text that narrows the rows, if any; there is then one source, which is used if the index is not built.
    let parts: PartSource<Row>?
    /// The test for each row; nil if the keys decide everything.
    let filter: RowFilter<Row>?
    /// The fields to decode of each row; nil for all.
    let fields: ChosenFields?
    /// The order to sort the rows by after reading them; nil if they come in the requested order.
    let order: [SortDescriptor<Row>]?
    /// Whether keys are read from the last to the first.
    let isReversed: Bool
    /// Whether the keys of rows are collected from indexes and sorted before rows are read, since the indexes' order is not the requested one.
    let isGathered: Bool
    /// Whether a scan may replace an index that is not built yet.
    let allowsScan: Bool

    /// All rows of one source, in its order.
    init(_ source: KeySource<Row>) {
        sources = [source]
        (parts, filter, fields, order, isReversed, isGathered, allowsScan) = (nil, nil, nil, nil, false, false, true)
    }

    /// The rows of one source that pass a filter, in its order or the reverse.
    init(_ source: KeySource<Row>, _ filter: RowFilter<Row>?, _ fields: ChosenFields?, isReversed: Bool) {
        sources = [source]
        (self.filter, self.fields, self.isReversed) = (filter, fields, isReversed)
        (parts, order, isGathered, allowsScan) = (nil, nil, false, true)
    }

    /// - Parameters:
    ///   - countsOnly: whether the order does not matter.
    ///   - reading: the source for conditions and archived rows; nil if the view is queried alone.
    init(
        _ descriptor: FetchDescriptor<Row>, countsOnly: Bool = false, _ reading: (any RowReading)? = nil
    ) throws(QueryError) {
        let choice = PlanChoice(descriptor, sortBy: countsOnly ? [] : descriptor.sortBy)
        let filter = try RowFilter(choice.isExact ? nil : descriptor.predicate, descriptor.textConditions)
        let readsFew =
            choice.direction != nil && descriptor.fetchLimit != nil && filter == nil && descriptor.conditions.isEmpty
        if descriptor.requiresIndex, choice.isScan, choice.parts == nil, !readsFew {
            throw Self.needsScan(descriptor.predicate == nil)
        }
        (sources, parts) = (choice.sources, choice.parts)
        self.filter = try BoundConditions(descriptor.conditions, includesArchived: descriptor.includesArchived, reading)
            .added(to: descriptor.hidingArchived(filter))
        fields = Self.fields(descriptor, self.filter)
        allowsScan = !descriptor.requiresIndex
        let sortBy = countsOnly ? [] : descriptor.sortBy
        if let direction = choice.direction, parts == nil {
            (order, isReversed, isGathered) = (nil, direction == .reverse, false)
            return
        }
        // Read in the order of the rows' keys, or its reverse, so that rows which the descriptors consider equal stay in it.
        isGathered = parts != nil || choice.sources.count > 1 || !countsOnly && choice.sources[0].layout.index != nil
        let keyDirection = countsOnly ? .forward : choice.keyDirection
        order = keyDirection == nil ? sortBy : nil
        isReversed = (keyDirection ?? sortBy.last?.order ?? .forward) == .reverse
    }

    /// The fields that the chosen properties, the filter and the order need; nil for all, or if it is not known.
    private static func fields(_ descriptor: FetchDescriptor<Row>, _ filter: RowFilter<Row>?) -> ChosenFields? {
        guard !descriptor.propertiesToFetch.isEmpty else { return nil }
        let layouts = RowLayouts<Row>.shared
        var wanted: Set<Int> = []
        if let filter {
            guard let used = filter.columns else { return nil }
            wanted = used
        }
        for property in descriptor.propertiesToFetch {
            guard let number = layouts.numbers.number(of: property) else { return nil }
            wanted.insert(number)
        }
        for descriptor in descriptor.sortBy {
            guard let number = descriptor.keyPath.flatMap({ layouts.numbers.number(of: $0) }) else { return nil }
            wanted.insert(number)
        }
        return ChosenFields(wanted.map { layouts.columns[$0] }, single: layouts.singleFields)
    }

    private static func needsScan(_ isForAll: Bool) -> QueryError {
        let layouts = RowLayouts<Row>.shared
        let key = layouts.primary.places.map(\.column.name).joined(separator: ", ")
        let indexes = layouts.indexes.compactMap(\.index).map { "(\($0.replacing(",", with: ", ")))" }
        let known = indexes.isEmpty ? "" : " or its indexes \(indexes.joined(separator: ", "))"
        let reason =
            isForAll ? "the query is for all rows" : "no part of the predicate is about the key of \(Row.view) (\(key))\(known)"
        return QueryError(.needsScan, "\(reason), so every row would be read")
    }
}

/// Chooses what is read for a query. It follows rules, not statistics, so that the same query is always answered in the same way:
/// the whole key of a row; else the source that bounds best, by leading properties with few values and a range after them; among equals the one in the
/// requested order, then the one that needs no filter, then the key.
struct PlanChoice<Row: QueryRow> {
    private struct Candidate {
        let layout: KeyLayout<Row>
        let cover: KeyCover?
        let strength: Int
        let direction: SortOrder?
        let isExact: Bool

        init(
            _ layout: KeyLayout<Row>, _ predicate: Predicate<Row>?, _ lowered: (any LoweredExpression)?, _ order: WantedOrder<Row>
        ) {
            self.layout = layout
            cover = lowered?.cover(layout)
            strength = KeySource.strength(cover, layout)
            direction = KeySource.direction(order, layout, cover)
            isExact = predicate == nil || cover?.isExact == true
        }

        private var isWholeKey: Bool { layout.index == nil && strength >= 2 * layout.places.count }

        func isBetter(than other: Candidate) -> Bool {
            if isWholeKey != other.isWholeKey { return isWholeKey }
            if strength != other.strength { return strength > other.strength }
            if (direction == nil) != (other.direction == nil) { return direction != nil }
            // An index returns all rows one by one: more expensive than a scan.
            if strength == 0 && direction == nil { return false }
            if isExact != other.isExact { return isExact }
            return false
        }
    }

    let sources: [KeySource<Row>]
    let parts: PartSource<Row>?
    let isExact: Bool
    /// The direction in which the only source is read for the requested order; nil if that is not its order.
    let direction: SortOrder?
    /// The same for the order of the rows' keys.
    let keyDirection: SortOrder?

    var isScan: Bool { sources.count == 1 && sources[0].cover == nil }

    init(_ descriptor: FetchDescriptor<Row>, sortBy: [SortDescriptor<Row>]) {
        let layouts = RowLayouts<Row>.shared
        let (predicate, order) = (descriptor.predicate, WantedOrder(sortBy))
        let lowered = predicate?.expression as? any LoweredExpression
        let primary = Candidate(layouts.primary, predicate, lowered, order)
        var best = primary
        for layout in layouts.indexes {
            let candidate = Candidate(layout, predicate, lowered, order)
            if candidate.isBetter(than: best) { best = candidate }
        }
        keyDirection = primary.direction
        if best.strength <= 1, let parts = PartSource(descriptor, isBounded: best.strength == 1) {
            (self.parts, isExact, direction) = (parts, false, nil)
            sources = [KeySource(primary.layout, nil)]
            return
        }
        parts = nil
        if best.strength == 0, best.direction == nil || descriptor.fetchLimit == nil,
            let expression = predicate?.expression, let union = Self.union(expression, layouts)
        {
            (sources, isExact, direction) = (union, false, nil)
            return
        }
        (isExact, direction) = (best.isExact, best.direction)
        sources = [KeySource(best.layout, best.cover)]
    }

    /// One source for each part of an `||`, if each part is bounded by the key or an index.
    private static func union(_ expression: Any, _ layouts: RowLayouts<Row>) -> [KeySource<Row>]? {
        if let both = expression as? any ConjunctiveExpression {
            return union(both.parts.0, layouts) ?? union(both.parts.1, layouts)
        }
        guard let either = expression as? any DisjunctiveExpression else { return nil }
        var sources: [KeySource<Row>] = []
        for part in [either.parts.0, either.parts.1] {
            guard let found = union(part, layouts) ?? bounded(part, layouts) else { return nil }
            sources += found
        }
        return sources
    }

    private static func bounded(_ expression: Any, _ layouts: RowLayouts<Row>) -> [KeySource<Row>]? {
        var best: (layout: KeyLayout<Row>, cover: KeyCover, strength: Int)?
        for layout in [layouts.primary] + layouts.indexes {
            guard let cover = (expression as? any LoweredExpression)?.cover(layout) else { continue }
            let strength = KeySource.strength(cover, layout)
            if strength > best?.strength ?? 0 { best = (layout, cover, strength) }
        }
        return best.map { [KeySource($0.layout, $0.cover)] }
    }
}

/// An `&&`.
protocol ConjunctiveExpression { var parts: (Any, Any) { get } }
extension PredicateExpressions.Conjunction: ConjunctiveExpression { var parts: (Any, Any) { (lhs, rhs) } }

/// An `||`.
private protocol DisjunctiveExpression { var parts: (Any, Any) { get } }
extension PredicateExpressions.Disjunction: DisjunctiveExpression { fileprivate var parts: (Any, Any) { (lhs, rhs) } }
