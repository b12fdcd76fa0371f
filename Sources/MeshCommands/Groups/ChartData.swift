import EventLog
import MeshTables

/// One line of a chart.
struct ChartSeries {
    let name: String
    /// By the place of their span of time; the only one at 0 where there are no times.
    var values: [Int: Double] = [:]
}

/// What a chart draws: groups as lines over time, or as bars.
struct ChartData {
    let title: String
    /// Those with the same keys but for the time, those with the most rows first.
    private(set) var series: [ChartSeries] = []
    /// The first span of time, its length, and how many there are.
    private(set) var times: (first: Timestamp, span: TimeSpan, count: Int)?
    private let zone: TableZone
    /// Whether values add up: counts and sums.
    let isSum: Bool
    /// Whether rows are counted: a span without rows counts as 0.
    private let isCount: Bool

    init<Row>(_ groups: RowGroups<Row>) {
        let measure = groups.measures.first
        zone = groups.zone
        let span = groups.keys.lazy.compactMap(\.span).first
        let rest = groups.keys.indices.filter { groups.keys[$0].span == nil }
        isCount = measure == nil
        isSum = measure.map { $0.kind == .sum } ?? true
        let what = (groups.measures.first.map { "\($0.kind) \($0.column.headingOfNumbers)" } ?? "count").replacing("_", with: " ")
        let keys = rest.map { groups.keys[$0].heading }.joined(separator: ", ")
        title = what + (keys.isEmpty ? "" : " by \(keys)")
        let column = groups.keys.firstIndex { $0.span != nil }
        let found: [(group: RowGroup, start: Timestamp?, value: Double)] = groups.sorted.compactMap { group in
            let value = measure == nil ? .unsigned(group.count) : group.measures[0].value(measure?.kind ?? .mean)
            guard value.isNumber, let number = Double(value.plain), number.isFinite else { return nil }
            guard let column else { return (group, nil, number) }
            return group.keys[column].time.map { (group, $0, number) }
        }
        let first = found.first?.start
        var last = 0
        var (order, rows): ([String], [String: UInt64]) = ([], [:])
        var points: [String: [(place: Int, value: Double)]] = [:]
        for (group, start, value) in found {
            var place = 0
            if let span, let first, let start { place = span.distance(from: first, to: start) }
            let name = DisplayWidth.safe(rest.map { group.keys[$0].plain }.joined(separator: " "))
            if rows[name] == nil { order.append(name) }
            rows[name, default: 0] += group.count
            points[name, default: []].append((place, value))
            last = max(last, place)
        }
        if let span, let first {
            times = (first, span, last + 1)
            order = order.enumerated().sorted {
                let (left, right) = (rows[$0.element] ?? 0, rows[$1.element] ?? 0)
                return left != right ? left > right : $0.offset < $1.offset
            }.map(\.element)
        }
        series = order.map { name in
            ChartSeries(name: name, values: Dictionary((points[name] ?? []).map { ($0.place, $0.value) }) { $1 })
        }
    }

    /// The values in so many columns at most: spans that share one are added up, or their mean is taken.
    func columns(_ series: ChartSeries, most: Int) -> [Double?] {
        let spans = times?.count ?? 1
        let count = min(spans, most)
        var sums = [(sum: Double, count: Int)](repeating: (0, 0), count: count)
        for (place, value) in series.values {
            let column = place * count / spans
            sums[column] = (sums[column].sum + value, sums[column].count + 1)
        }
        return sums.map { $0.count == 0 && !isCount ? nil : isSum ? $0.sum : $0.sum / Double($0.count) }
    }

    /// The least and the greatest value.
    func ends(_ series: ChartSeries) -> (least: Double, greatest: Double) {
        let values = series.values.values
        let hasNothing = isCount && values.count < times?.count ?? 1
        return (hasNothing ? 0 : values.min() ?? 0, values.max() ?? 0)
    }

    /// From the least to the greatest; sums begin at nothing.
    func scale(_ values: [[Double?]]) -> ClosedRange<Double> {
        let known = values.flatMap { $0.compactMap(\.self) }
        let (least, most) = (isSum ? 0 : known.min() ?? 0, known.max() ?? 0)
        return least < most ? least...most : least - 1...most + 1
    }

    /// The first time on the left, the end of the last on the right.
    func axis(width: Int) -> String {
        guard let times else { return "" }
        func text(_ distance: Int) -> Substring {
            zone.text(times.span.start(distance, after: times.first, in: zone).seconds)[...]
        }
        let start = text(0).prefix(16).replacing("T", with: " ")
        let last = text(times.count)
        let offset = last.dropFirst(19) == "Z" ? " UTC" : last.dropFirst(19)
        let end = last.prefix(16).replacing("T", with: " ") + offset
        return start + String(repeating: " ", count: max(2, width - start.count - end.count)) + end
    }
}
