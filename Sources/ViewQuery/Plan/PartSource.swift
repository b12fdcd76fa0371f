internal import Foundation
internal import LMDB
internal import Projections
internal import ProtobufWire

/// Rows whose text may contain a pattern, found by the index of the text's parts. Each row is tested afterwards.
struct PartSource<Row: QueryRow> {
    let wanted: TextParts.Wanted
    private let index: TextIndex

    /// The parts that bound a query best: those of the longest pattern.
    ///
    /// - Parameter isBounded: whether the rows are already bounded, so that a few characters would not help.
    init?(_ descriptor: FetchDescriptor<Row>, isBounded: Bool) {
        guard Row.texts.contains(where: \.hasParts) else { return nil }
        var best: (text: RowText<Row>, wanted: TextParts.Wanted)?
        func offer(_ property: AnyKeyPath, _ pattern: TextPattern) {
            guard let text = Row.texts.first(where: { $0.hasParts && ($0.keyPath as AnyKeyPath) == property }),
                let wanted = TextParts.wanted(by: pattern, of: text.name), wanted.beginning == nil || !isBounded
            else { return }
            if let known = best, known.wanted.whole.count >= wanted.whole.count { return }
            best = (text, wanted)
        }
        for condition in descriptor.textConditions {
            if let pattern = condition.pattern, let property = condition.properties.first { offer(property, pattern) }
        }
        if let predicate = descriptor.predicate { Self.forEachPattern(predicate.expression, offer) }
        guard let best else { return nil }
        (wanted, index) = (best.wanted, best.text.parts)
    }

    /// The patterns that all matching rows of a predicate must contain.
    private static func forEachPattern(_ expression: Any, _ visit: (AnyKeyPath, TextPattern) -> Void) {
        if let both = expression as? any ConjunctiveExpression {
            forEachPattern(both.parts.0, visit)
            forEachPattern(both.parts.1, visit)
        } else if let (property, text, place) = (expression as? any PatternExpression)?.pattern {
            visit(property, TextPattern(text, at: place, []))
        }
    }

    /// The keys of the rows, unordered; nil if the index is not built.
    func keys(_ store: ViewStore, _ transaction: borrowing ReadTransaction, length: Int) throws -> EntryList? {
        guard let indexed = RowLayouts<Row>.shared.indexed, try store.isIndexed(indexed, in: transaction) else { return nil }
        var rows = try found(store, transaction)
        var anything: [UInt64] = []
        try store.visitPostings(of: TextParts.anything, index, in: transaction) { anything.append($0.row) }
        if !anything.isEmpty { rows = Array(Set(rows).union(anything)) }
        var list = EntryList(length: length)
        for row in rows {
            guard let key = try store.textRow(row, index, in: transaction), key.count == length else {
                throw QueryPlan<Row>.malformed(store)
            }
            list.append(key.rawSpan)
        }
        return list
    }

    private func found(_ store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> [UInt64] {
        if let beginning = wanted.beginning {
            var rows: Set<UInt64> = []
            try store.visitPostings(beginning: beginning, index, in: transaction) { rows.insert($0.row) }
            return Array(rows)
        }
        var common: [UInt64]?
        for part in wanted.whole {
            var rows: [UInt64] = []
            try store.visitPostings(of: part, index, in: transaction) { rows.append($0.row) }
            common = common.map { Self.intersection($0, rows) } ?? rows
            if common?.isEmpty == true { return [] }
        }
        return common ?? []
    }

    /// Both lists are of rows in ascending order.
    private static func intersection(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        var (common, place): ([UInt64], Int) = ([], 0)
        for row in left {
            while place < right.count, right[place] < row { place += 1 }
            guard place < right.count else { break }
            if right[place] == row { common.append(row) }
        }
        return common
    }
}

/// `property.contains(text)` and `property.starts(with: text)`.
private protocol PatternExpression {
    var pattern: (property: AnyKeyPath, text: String, place: TextPattern.Place)? { get }
}

private func pattern(
    _ property: Any, _ text: Any, _ place: TextPattern.Place
) -> (property: AnyKeyPath, text: String, place: TextPattern.Place)? {
    guard let property = (property as? any RowProperty)?.property, let text = value(of: text) as? String else { return nil }
    return (property, text, place)
}

extension PredicateExpressions.CollectionContainsCollection: PatternExpression {
    fileprivate var pattern: (property: AnyKeyPath, text: String, place: TextPattern.Place)? {
        ViewQuery.pattern(base, other, .anywhere)
    }
}

extension PredicateExpressions.SequenceStartsWith: PatternExpression {
    fileprivate var pattern: (property: AnyKeyPath, text: String, place: TextPattern.Place)? {
        ViewQuery.pattern(base, prefix, .beginning)
    }
}
