import ArgumentParser

/// What a list shows instead of its rows: how many there are of each value, and what their numbers come to.
struct GroupOptions: ParsableArguments {
    @Option(
        name: .customLong("count-by"),
        help: ArgumentHelp(
            "Instead of rows, count them by the values of these columns, the most frequent first; hour, day, week and month are also columns, in order of time.",
            valueName: "columns"), completion: NameCompletion.columns)
    var countBy: String?
    @Option(
        help: ArgumentHelp(
            "Instead of rows, count them by spans of time: 15m, 1h, 1d, 1w, 1mo, 1y. Days begin at midnight, weeks on Monday, months and years by the calendar, in the zone of the output: local in a table on a terminal, else UTC.",
            valueName: "span"), transform: TimeSpan.parsed)
    var bucket: TimeSpan?
    @Option(
        help: ArgumentHelp("With the counts, the mean of a column of numbers.", valueName: "column"),
        completion: NameCompletion.columns)
    var mean: [String] = []
    @Option(help: ArgumentHelp("The smallest value of a column.", valueName: "column"), completion: NameCompletion.columns)
    var min: [String] = []
    @Option(help: ArgumentHelp("The largest value of a column.", valueName: "column"), completion: NameCompletion.columns)
    var max: [String] = []
    @Option(help: ArgumentHelp("The sum of a column.", valueName: "column"), completion: NameCompletion.columns)
    var sum: [String] = []

    @Flag(help: "Draw the counts, or the first of the numbers: over time with --bucket or hour and day, else as bars.")
    var chart = false

    /// Whether groups are shown instead of rows.
    var isGiven: Bool { countBy != nil || bucket != nil || !measures.isEmpty }

    /// Whether rows are counted by time alone.
    var isOneLine: Bool { !keys.isEmpty && keys.allSatisfy { if case .span = $0 { true } else { false } } }

    /// The spans of time that have names.
    static let spans = [
        "hour": TimeSpan(seconds: 3_600), "day": TimeSpan(seconds: 86_400), "week": TimeSpan(seconds: TimeSpan.week),
        "month": TimeSpan(months: 1),
    ]

    var keys: [GroupKey] {
        let named = (countBy ?? "").split(separator: ",").map(String.init).map { name -> GroupKey in
            let name = Self.spans[name.lowercased()] == nil ? name : name.lowercased()
            return Self.spans[name].map { GroupKey.span($0, name: name) } ?? .column(name)
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
