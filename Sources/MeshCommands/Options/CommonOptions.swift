import ArgumentParser
import EventLog
import Glibc
import MeshLedger
import Meshtastic
import ViewQuery

/// How rows are printed, and where.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "table for people; json, jsonl and csv for programs. Tables and CSV write invisible characters as \\u{…}; JSON keeps them.",
            valueName: "format"))
    var format = OutputFormat.table

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Write to this file instead.", valueName: "file"), completion: .file())
    var output: String?
    @Flag(help: "Show tables whole, without omitting or wrapping columns, however narrow the terminal is.") var wide = false
    @Flag(
        help: "In tables on a terminal, show times in UTC instead of the local zone ($TZ), and read times without a zone as UTC.")
    var utc = false
    @Flag(help: "Do not page long output on a terminal ($PAGER, by default less).") var noPager = false

    /// The zone of printed times: local in a table on a terminal, otherwise UTC.
    var zone: TableZone {
        !utc && isTableOnTerminal ? .local : .utc
    }

    var isTableOnTerminal: Bool { format == .table && output ?? "-" == "-" && isatty(1) == 1 }

    /// Where to print anything that is not a table.
    /// - Parameter isLive: whether a file is written in place, since others read it meanwhile.
    func target(isLive: Bool = false) throws -> StandardOutput {
        try output.map { try StandardOutput(file: $0, isLive: isLive) } ?? StandardOutput(pages: !noPager && !isLive)
    }

    /// - Parameters:
    ///   - keepsOrder: whether a table keeps the columns in this order; otherwise texts come last.
    ///   - isLive: whether rows are printed as they arrive.
    func writer<Row>(_ columns: [Column<Row>], keepsOrder: Bool = false, isLive: Bool = false) throws -> RowWriter<Row> {
        RowWriter(try anyWriter(columns.map(\.ofAnyRow), keepsOrder: keepsOrder, isLive: isLive))
    }

    func anyWriter(_ columns: [Column<AnyRow>], keepsOrder: Bool = false, isLive: Bool = false) throws -> AnyRowWriter {
        AnyRowWriter(
            columns, format: format, output: try target(isLive: isLive),
            style: TableStyle(zone: zone, isWide: wide, keepsOrder: keepsOrder))
    }
}

/// A command that prints times; those that are typed without a zone are of the same one.
protocol ShowsTimes: ParsableCommand {
    var output: OutputOptions { get }
}

/// A range of time.
struct TimeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "From this time on: ISO 8601, 2025-09, '2h ago', 'yesterday 10:00', 1y. Times without a zone are local for a table on a terminal, else UTC. Packets of which only the time of the import is known are in no such window.",
            valueName: "time"),
        transform: TimeArgument.parsed)
    var since: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Before this time. Of an hour that the clock shows twice at the end of summer time, --since and --as-of mean the first, --until the second.",
            valueName: "time"), transform: TimeArgument.parsedEnd)
    var until: TimeArgument?

    func validate() throws {
        if let since, let until, since.time > until.time { throw ValidationError("--since is later than --until") }
    }
}

/// A pattern in a text.
struct PatternOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only if the text contains this; case and accents are ignored.", valueName: "text"))
    var contains: String?

    @Flag(help: "With --contains: respect case and accents.")
    var exact = false

    func validate() throws {
        if exact && contains == nil { throw ValidationError("--exact is about --contains") }
    }

    var pattern: TextPattern? {
        contains.map { TextPattern($0, at: .anywhere, exact ? [] : [.ignoresCase, .ignoresDiacritics]) }
    }
}

/// Which marked rows to list.
struct ListedOptions: ParsableArguments {
    @Flag(help: "Archived ones, too.") var archived = false
    @Flag(help: "Without ignored nodes and their packets.") var notIgnored = false

    func query(_ query: RowQuery) -> RowQuery {
        var query = query
        query.includesArchived = archived
        if notIgnored { query.isIgnored = false }
        return query
    }
}

/// A page of rows.
struct PageOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("The most rows.", valueName: "count"))
    var limit: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("How many rows to skip.", valueName: "count"))
    var offset = 0

    @Flag(help: "The oldest rows first.")
    var oldestFirst = false

    func validate() throws { try Self.check(limit: limit, offset: offset) }

    static func check(limit: Int?, offset: Int) throws {
        for (option, count) in [("--limit", limit ?? 0), ("--offset", offset)] where count < 0 {
            throw ValidationError("\(option) is a number of rows: 0 or more, not \(count)")
        }
    }

    var range: Range<Int> {
        let (end, isCut) = offset.addingReportingOverflow(limit ?? .max)
        return offset..<(isCut ? .max : end)
    }

    func query(_ times: TimeOptions, channel: String? = nil, defaultLimit: Int = .max) -> RowQuery {
        RowQuery(
            since: times.since?.time, until: times.until?.time, channel: channel, limit: limit ?? defaultLimit, offset: offset,
            newestFirst: !oldestFirst)
    }
}
