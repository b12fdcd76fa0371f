/// The cost of a query, in words and in the numbers behind them.
public struct QueryExplanation: Sendable, CustomStringConvertible {
    public enum Access: String, Sendable {
        /// Every row of the view.
        case scan
        /// The rows in key ranges or at single keys, of the rows' keys or an index.
        case ranges
        /// Rows at many places, each found by a seek: the leading properties of the key are not bounded.
        case skippingScan
        /// Rows whose text may contain a pattern, by the index of its parts.
        case parts
        /// Ranges of several indexes, each for a part of the predicate.
        case union
    }

    public let view: String
    public let access: Access
    /// The indexes that are read, by their properties; empty if rows are found by their keys.
    public let indexes: [String]
    /// The properties that bound what is read.
    public let bounded: [String]
    /// Whether rows are decoded and tested one by one.
    public let isFiltered: Bool
    /// Whether rows are collected and sorted, instead of being read in order.
    public let isSorted: Bool
    /// Whether only chosen properties of each row, and those that the query itself needs, are decoded.
    public let decodesChosen: Bool

    public var description: String {
        let place = indexes.isEmpty ? "key" : "index " + indexes.map { "(\($0))" }.joined(separator: ", ")
        let limits = bounded.joined(separator: ", ")
        let reading =
            switch access {
            case .scan: indexes.isEmpty ? "every row of \(view)" : "every row of \(view) by \(place)"
            case .ranges, .union: "rows of \(view) by \(place): \(limits)"
            case .parts: "rows of \(view) by the parts of \(limits)"
            case .skippingScan: "rows of \(view) by seeks over the \(place)s: \(limits)"
            }
        let steps = "filter: \(isFiltered ? "each row" : "none"); sort: \(isSorted ? "after reading" : "none")"
        return "\(reading); \(steps)" + (decodesChosen ? "; decodes: chosen properties" : "")
    }

    init<Row>(_ plan: QueryPlan<Row>) {
        view = Row.view
        isFiltered = plan.filter != nil
        isSorted = plan.order != nil
        decodesChosen = plan.fields != nil
        indexes =
            plan.parts.map { ["\($0.wanted.property): parts"] }
            ?? plan.sources.compactMap(\.layout.index).map { $0.replacing(",", with: ", ") }
        var bounded: [String] = []
        for source in plan.sources {
            for place in source.layout.places where source.bounds(place) && !bounded.contains(place.column.name) {
                bounded.append(place.column.name)
            }
        }
        self.bounded = plan.parts.map { [$0.wanted.property] } ?? bounded
        access =
            if plan.parts != nil { .parts } else if plan.sources.count > 1 { .union } else if plan.sources[0].cover == nil {
                .scan
            } else {
                KeySource.strength(plan.sources[0].cover, plan.sources[0].layout) > 0 ? .ranges : .skippingScan
            }
    }
}

extension KeySource {
    fileprivate func bounds(_ place: KeyLayout<Row>.Place) -> Bool {
        guard let cover else { return false }
        return cover.boxes.allSatisfy { box in place.numbers.contains { !box.numbers[$0].isAll(upTo: layout.shape.largest($0)) } }
    }
}
