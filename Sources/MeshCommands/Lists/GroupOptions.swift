import ArgumentParser
import EventLog
import MeshLedger

/// What a list shows instead of its rows: how many there are of each value, and what their numbers come to.
struct GroupOptions: ParsableArguments {
    @Option(
        name: .customLong("count-by"),
        help: ArgumentHelp(
            "Instead of the rows, how many have each value of these columns, the most frequent first; hour and day are columns of time, too.",
            valueName: "columns"), completion: NameCompletion.listColumns)
    var countBy: String?
    @Option(help: ArgumentHelp("Instead of the rows, how many are in each span of time: 15m, 1h, 1d.", valueName: "span"))
    var bucket: TimeSpan?
    @Option(
        help: ArgumentHelp("With the counts, the mean of a column of numbers.", valueName: "column"),
        completion: NameCompletion.listColumns)
    var mean: [String] = []
    @Option(help: ArgumentHelp("The least of a column.", valueName: "column"), completion: NameCompletion.listColumns)
    var min: [String] = []
    @Option(help: ArgumentHelp("The greatest of a column.", valueName: "column"), completion: NameCompletion.listColumns)
    var max: [String] = []
    @Option(help: ArgumentHelp("The sum of a column.", valueName: "column"), completion: NameCompletion.listColumns)
    var sum: [String] = []

    @Flag(help: "Draw the counts, or the first of the numbers: over time with --bucket or hour and day, else as bars.")
    var chart = false

    /// Whether groups are shown instead of rows.
    var isGiven: Bool { countBy != nil || bucket != nil || !measures.isEmpty }

    var keys: [GroupKey] {
        let named = (countBy ?? "").split(separator: ",").map(String.init).map { name in
            switch name.lowercased() {
            case "hour": GroupKey.span(TimeSpan(seconds: 3_600), name: "hour")
            case "day": GroupKey.span(TimeSpan(seconds: 86_400), name: "day")
            default: GroupKey.column(name)
            }
        }
        return (bucket.map { [.span($0, name: "time")] } ?? []) + named
    }

    var measures: [(kind: GroupMeasure, column: String)] {
        mean.map { (.mean, $0) } + min.map { (.min, $0) } + max.map { (.max, $0) } + sum.map { (.sum, $0) }
    }

    func validate() throws {
        if chart, !isGiven { throw ValidationError("--chart draws what --bucket or --count-by counts") }
        if let countBy, countBy.split(separator: ",", omittingEmptySubsequences: false).contains("") {
            throw ValidationError("--count-by takes columns with commas between them")
        }
    }
}

/// What rows are grouped by.
enum GroupKey {
    case column(String)
    case span(TimeSpan, name: String)
}

/// What numbers of a group come to.
enum GroupMeasure: String {
    case mean, min, max, sum
}

/// A length of time as people write it: `15m`, `1h`, `1d`.
struct TimeSpan: ExpressibleByArgument {
    let seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    init?(argument: String) {
        let end = Timestamp(seconds: 0)
        guard let start = TimeArgument(argument, now: end), start.time < end, argument.first?.isNumber ?? false else {
            return nil
        }
        seconds = -start.time.seconds
    }

    /// The beginning of the span that a time is in; spans begin at multiples of their length since 1970, in UTC.
    func start(of time: Timestamp) -> Timestamp {
        let (whole, rest) = time.seconds.quotientAndRemainder(dividingBy: seconds)
        return Timestamp(seconds: (rest < 0 ? whole - 1 : whole) * seconds)
    }
}
