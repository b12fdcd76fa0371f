import Foundation
import MeshTables

/// Draws groups of rows for a terminal: one series over time as a line, several as a line of blocks each, others as bars, with the share of each where they add up.
struct GroupChart {
    private static let mostSeries = 30
    private static let height = 10

    private let width: Int
    private let target: StandardOutput

    /// Nil where no chart is asked for.
    init?(_ options: GroupOptions, _ output: OutputOptions) throws {
        guard options.chart else { return nil }
        guard output.format == .table else {
            throw CommandError(.usage, "--chart is for people; --format has numbers for programs")
        }
        target = try output.target()
        width = max(40, target.columns ?? 100)
    }

    /// - Parameter page: of the series or bars.
    func draw<Row>(_ groups: RowGroups<Row>, _ page: Range<Int>, emptyNote: String) {
        let data = ChartData(groups)
        let most = page.upperBound == .max ? Self.mostSeries : page.count
        let shown = Array(data.series.dropFirst(page.lowerBound).prefix(most))
        guard !shown.isEmpty else {
            let measure = data.series.isEmpty && !groups.isEmpty ? groups.measures.first : nil
            return StandardOutput.error(measure.map { "no values of \($0.column.name)" } ?? emptyNote)
        }
        let isBars = data.times == nil
        let output = target
        for line in isBars ? bars(shown, data) : data.series.count == 1 ? plot(shown[0], data) : sparklines(shown, data) {
            output.line(DisplayWidth.safe(line))
        }
        output.finish()
        let left = data.series.count - page.lowerBound - shown.count
        if left > 0, page.upperBound == .max { StandardOutput.error("(\(left) more; --limit and --offset show them)") }
    }

    private func plot(_ series: ChartSeries, _ data: ChartData) -> [String] {
        var values = data.columns(series, most: (width - 14) * 2)
        let scale = data.scale([values])
        let labels = [scale.upperBound, (scale.lowerBound + scale.upperBound) / 2, scale.lowerBound].map(Self.number)
        let margin = labels.map(\.count).max() ?? 0
        var canvas = BrailleCanvas(width: max(10, width - margin - 3), height: Self.height)
        if values.count == 1 { values += values }  // a line, since a dot is hardly seen
        let (columns, rows) = (canvas.width * 2 - 1, canvas.height * 4 - 1)
        var before: (column: Int, row: Int)?
        for (place, value) in values.enumerated() {
            // A span without a value, which a count always has, is a gap in the line.
            guard let value else {
                before = nil
                continue
            }
            let row = Int(((1 - scale.share(of: value)) * Double(rows)).rounded())
            let point = (column: place * columns / (values.count - 1), row: row)
            canvas.line(from: before ?? point, to: point)
            before = point
        }
        let marks = [0: labels[0], Self.height / 2: labels[1], Self.height - 1: labels[2]]
        let drawn = canvas.lines.enumerated().map { row, line in
            Self.right(marks[row] ?? "", in: margin) + (marks[row] == nil ? " │" : " ┤") + line
        }
        let space = String(repeating: " ", count: margin + 1)
        return [data.title] + drawn + [space + "└" + String(repeating: "─", count: canvas.width)]
            + [space + " " + data.axis(width: canvas.width)]
    }

    private func sparklines(_ series: [ChartSeries], _ data: ChartData) -> [String] {
        let ends = series.map(data.ends).map { "\(Self.number($0.least)) to \(Self.number($0.greatest))" }
        let names = min(30, series.map { DisplayWidth.of($0.name) }.max() ?? 0)
        let room = max(10, width - names - (ends.map(\.count).max() ?? 0) - 4)
        let values = series.map { data.columns($0, most: room) }
        let scale = data.scale(values)
        let lines = series.indices.map { place in
            Self.left(series[place].name, in: names) + "  " + Sparkline.text(values[place], scale) + "  " + ends[place]
        }
        return [data.title + ", blocks from \(Self.number(scale.lowerBound)) to \(Self.number(scale.upperBound))"] + lines
            + [String(repeating: " ", count: names + 2) + data.axis(width: values[0].count)]
    }

    private func bars(_ series: [ChartSeries], _ data: ChartData) -> [String] {
        let values = series.map { $0.values[0] ?? 0 }
        let all = data.isSum ? data.series.reduce(0) { $0 + max(0, $1.values[0] ?? 0) } : 0
        let shares = all > 0 ? values.map { "  " + Self.right(Self.share($0 / all), in: 4) } : values.map { _ in "" }
        let numbers = values.map(Self.number)
        let most = numbers.map(\.count).max() ?? 0
        let texts = zip(numbers, shares).map { Self.right($0, in: most) + $1 }
        let names = min(40, series.map { DisplayWidth.of($0.name) }.max() ?? 0)
        let digits = texts.map(\.count).max() ?? 0
        let scale = Self.scaleOfBars(values)
        let lines = series.indices.map { place in
            let bar = Sparkline.bar(scale.share(of: values[place]), width: max(10, width - names - digits - 4))
            return Self.left(series[place].name, in: names) + "  " + texts[place] + "  " + bar
        }
        return [data.title + (scale.lowerBound < 0 ? ", bars from \(Self.number(scale.lowerBound))" : "")] + lines
    }

    /// Bars begin at 0, or a tenth below the least of negative values, so that it has one as well.
    private static func scaleOfBars(_ values: [Double]) -> ClosedRange<Double> {
        let (least, greatest) = (values.min() ?? 0, values.max() ?? 0)
        guard least < 0 else { return 0...max(greatest, .leastNonzeroMagnitude) }
        let room = max((greatest - least) / 10, abs(least) / 1_000)
        let start = (least - room).rounded(.down)
        return start...max(greatest, start.nextUp)
    }

    /// Of all that is counted, in whole percents.
    private static func share(_ part: Double) -> String {
        part > 0 && part < 0.005 ? "<1 %" : "\(Int((min(1, max(0, part)) * 100).rounded())) %"
    }

    private static func left(_ text: String, in width: Int) -> String {
        let text = DisplayWidth.cut(text, to: width)
        return text + String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
    }

    private static func right(_ text: String, in width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// From 10^15 on in its short form: a forged metric may have 39 digits before the point.
    private static func number(_ value: Double) -> String {
        guard abs(value) < 1e15 else { return String(format: "%.3g", value) }
        return Int64(exactly: value).map { String($0) } ?? CellValue.double(value).rounded(2)
    }
}
