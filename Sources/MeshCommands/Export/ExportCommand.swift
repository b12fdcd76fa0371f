import ArgumentParser
import EventLog
import MeshIngest
import MeshLedger
import MeshTables
import Meshtastic
import ProtobufWire

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write events or rows for other programs.",
        discussion: """
            Columns, values and conditions are those of the lists: `export packets` writes the rows of `packets`. What lists take from other rows, such as the battery of nodes and the name of positions, comes with --columns. receptions has a row for each time that a packet was
            heard, packet_events what the index knows of each event, also of those that retention has dropped.

            Rows come oldest first, or in the order of their nodes; those of packets and receptions newest first unless --oldest-first is given.

            Raw events keep their bytes (`payload_b64`) and can be imported again. GeoJSON is for positions, waypoints and trace routes, GPX and KML for positions. The format `ledger` is
            a recording of the ledger's events to share: importing it into an empty one makes an exact copy, sources and tree included. If
            retention has dropped events, it contains the remaining ones. With --node it is a new ledger of those packets. In CSV, a text that a
            spreadsheet would take for a formula begins with an apostrophe.

            With --precision, places are no more exact than this many bits of their coordinates (1 to 32, as in a node's settings), or than this distance: the
            middle of a square, and without the height, speed and course that could narrow it down. Raw events and recordings hold what nodes sent.

              meshledger export events --format jsonl > events.jsonl
              meshledger export positions --node '!19025c00' --format gpx > track.gpx
              meshledger export positions --precision 1km --format geojson > public.geojson
              meshledger export positions --format parquet -o positions.parquet
              meshledger export packets --port POSITION_APP --since 1d --format csv
              meshledger export nodes --where role=ROUTER --columns node,long_name,role
              meshledger export positions --node Rover --since yesterday --until today --format gpx
              meshledger export all --format csv -o everything
              meshledger export --format ledger mesh.recording
              meshledger export telemetry --kind device --since '7d ago' --format csv > device.csv
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(
        name: .shortAndLong,
        help: "csv, jsonl, json; arrow and parquet for analysis; geojson, gpx and kml for places; ledger for a recording.")
    var format =
        ExportFormat.jsonl
    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(
        help: "Only this channel, for nodes, messages, waypoints, trace routes, packets and receptions.",
        completion: NameCompletion.channels)
    var channel: String?
    @Option(help: "Only this kind of metrics, for telemetry.") var kind: TelemetryKind?
    @OptionGroup var packets: PacketChoice
    @OptionGroup var chosen: ConditionOptions
    @Option(
        name: .customLong("columns"), help: ArgumentHelp("Only these columns, in this order.", valueName: "names"),
        completion: NameCompletion.columns)
    var names: String?
    @Option(
        help: ArgumentHelp("The time for --since and --until of events and packets: heard or arrival.", valueName: "clock"))
    var by = EventOrder.Clock.heard
    @Flag(help: "Archived ones, too.") var archived = false
    @Option(
        help: ArgumentHelp(
            "The finest precision of places: bits such as 14, or a distance such as 500m or 1km.", valueName: "bits"))
    var precision: PrecisionArgument?
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write there, instead of to standard output; for `all` a folder, with a file for each.", valueName: "file"),
        completion: .file())
    var to: String?
    @Argument(
        help: "What: one of \(ExportSubject.list); with --format ledger the file to write, or -.",
        completion: NameCompletion.exported)
    var subject: ExportTarget

    func validate() throws {
        if precision != nil { try requirePlaces() }
        if format == .ledger {
            if case .subject(let subject) = subject, subject != .events {
                throw ValidationError("a recording has events; name a file, or - for standard output")
            }
            guard channel == nil, kind == nil, to == nil, page.limit == nil, page.offset == 0, conditions.isEmpty, names == nil
            else {
                throw ValidationError("a recording is chosen by --since, --until and --node only")
            }
            return
        }
        if case .subject(.all) = subject {
            guard to ?? "-" != "-" else { throw ValidationError("--output names the folder in which everything is written") }
            guard format.isOfRows else { throw ValidationError("everything is csv, json, jsonl, arrow or parquet") }
            guard precision == nil, kind == nil, conditions.isEmpty, names == nil else {
                throw ValidationError("--precision, --kind, --where and --columns are for one subject")
            }
        }
        guard case .subject(let subject) = subject else {
            guard format.isOfRows, node == nil, channel == nil, kind == nil, !archived else {
                throw ValidationError("name one of \(ExportSubject.list), or a view of your own as rows")
            }
            return
        }
        if format == .gpx || format == .kml, subject.rows != PositionRow.self {
            throw ValidationError("\(format.rawValue) is a format for positions")
        }
        if format == .geojson, !subject.isForMaps {
            throw ValidationError("geojson is a format for \(Self.list(\.isForMaps))")
        }
        try refuseOthers(of: subject)
        if [.quarantine, .archived, .references].contains(subject), times.since != nil || times.until != nil {
            throw ValidationError("the rows of \(subject.name) have no time: --since and --until are for others")
        }
        if subject == .events, TableFormat(rawValue: format.rawValue) != nil, !conditions.isEmpty {
            throw ValidationError("--where of raw events is for csv, json and jsonl")
        }
        if !format.isOfRows, names != nil { throw ValidationError("--columns is for rows; a map has its own form") }
        if subject == .events, format == .jsonl, names != nil {
            throw ValidationError(
                "raw events are whole in jsonl, so that they can be imported again; --format csv takes --columns")
        }
    }

    /// Refuses options that do not apply to the subject, which would export all of its rows instead of a part.
    private func refuseOthers(of subject: ExportSubject) throws {
        let isOfEvents = subject == .events
        if node != nil, !subject.hasNodes {
            throw ValidationError(
                isOfEvents
                    ? "raw events are not chosen by node; `events --node` and --where 'from=…' are"
                    : "the rows of \(subject.name) are not chosen by node")
        }
        if channel != nil, !subject.hasChannels {
            throw ValidationError(
                isOfEvents
                    ? "raw events are not chosen by --channel, but by --where 'channel=…'"
                    : "--channel is for \(Self.list(\.hasChannels)), not for \(subject.name)")
        }
        if kind != nil, subject.rows != TelemetryRow.self {
            throw ValidationError("--kind is for telemetry, not for \(subject.name)")
        }
        if archived, !subject.canBeArchived { throw ValidationError("the rows of \(subject.name) cannot be archived") }
        if by == .arrival, !subject.hasArrivals {
            throw ValidationError("--by is for \(Self.list(\.hasArrivals)), not for \(subject.name)")
        }
        if packets.isGiven, !subject.isOfPackets {
            throw ValidationError("--port, --gateway, --mentions and --packet are for packets and receptions")
        }
    }

    private static func list(_ has: (ExportSubject) -> Bool) -> String {
        ExportSubject.allCases.filter(has).map(\.name).joined(separator: ", ")
    }

    private func requirePlaces() throws {
        if format != .ledger, case .subject(let subject) = subject, subject.hasPlaces { return }
        throw ValidationError(
            "--precision is for \(Self.list(\.hasPlaces)): raw events and recordings hold what nodes sent, other rows have no places"
        )
    }

    func run() async throws {
        guard format != .ledger else { return try await exportLedger() }
        try await ledger.reading(past) { ledger in
            guard case .subject(let subject) = subject else { return try exportCustomView(ledger) }
            let number = try node?.number(in: ledger)
            var query = page.query(times, channel: try ledger.channel(named: channel))
            query.newestFirst = false
            if !isPagedByQuery { (query.limit, query.offset) = (.max, 0) }
            query.includesArchived = archived
            if subject == .all { return try exportAll(ledger, number, query) }
            try export(subject, ledger, number, query)
        }
    }

    var conditions: [RowCondition] { chosen.conditions }

    /// Whether only what was heard within some times is wanted.
    var hasTimes: Bool { by == .heard && page.query(times).hasTimes }

    func output() throws -> StandardOutput { try to.map { try StandardOutput(file: $0) } ?? StandardOutput() }

    /// - Parameters:
    ///   - texts: what texts have instead of these columns.
    ///   - others: columns of conditions that are not written.
    ///   - total: how many rows come, where that is known.
    ///   - series: passes on the same rows, many at a time, where all of them are written.
    func write<Row>(
        _ table: (TableContext) -> [TableColumn<Row>], _ ledger: Ledger,
        as texts: @autoclosure () throws -> [Column<Row>]? = nil, others: [Column<Row>] = [], total: UInt64? = nil,
        _ body: ((Row) -> Bool) throws -> Void, series: ((([Row]) -> Void) throws -> Void)? = nil
    ) throws {
        let tableFormat = TableFormat(rawValue: format.rawValue)
        let isOfTexts = tableFormat == nil || !conditions.isEmpty || hasTimes
        let columns = isOfTexts ? try texts() ?? ledger.columns(ledger.shown(Row.self), table) : []
        let named = conditions.map(\.column) + (names ?? "").split(separator: ",").map(String.init)
        let asked = isOfTexts ? try GenericCell.columns(columns + others, and: named, of: Row.self, in: ledger) : []
        if let tableFormat {
            let columns = table(try TableContext(ledger))
            return try writeTable(
                tableFormat, columns, rows(asked, ledger, total: total), body, series: isOfTexts ? nil : series)
        }
        let shown = try names.map { try asked.named(list: $0) } ?? columns
        let rows = try rows(asked.map(\.ofAnyRow), of: Row.self, ledger, total: total)
        try writeTexts(shown.map(\.ofAnyRow), rows) { write in
            try withoutActuallyEscaping(write) { write in try body { write(AnyRow($0)) } }
        }
    }

    private func writeTable<Row>(
        _ format: TableFormat, _ all: [TableColumn<Row>], _ rows: ExportedRows<Row>, _ body: ((Row) -> Bool) throws -> Void,
        series: ((([Row]) -> Void) throws -> Void)?
    ) throws {
        let columns = try names.map { try all.named($0) } ?? all
        let output = try output()
        guard !output.isTerminal else {
            throw CommandError(.usage, "\(format.rawValue) is not for a terminal; use --output FILE")
        }
        let isFile = to.map { $0.hasSuffix(".arrow") || $0.hasSuffix(".feather") } ?? false
        let file = try TableExport(kind.map(SQLTables.name) ?? subject.name, columns, format: format, isFile: isFile, to: output)
        if let series {
            try series { part in
                rows.takeAll(part.count)
                file.write(part)
            }
        } else {
            try body { row in
                if rows.takes(row) { file.write(row) }
                return rows.goesOn
            }
        }
        try rows.end()
        try file.finish()
        return output.flush()
    }

    private func writeTexts(
        _ columns: [Column<AnyRow>], _ rows: ExportedRows<AnyRow>, _ body: ((AnyRow) -> Bool) throws -> Void
    ) throws {
        let writer = AnyRowWriter(columns, format: OutputFormat(rawValue: format.rawValue) ?? .jsonl, output: try output())
        if conditions.isEmpty { writer.printBehind() }
        defer { writer.flush() }  // also what comes before an error
        try body { row in
            if rows.takes(row) { writer.write(row) }
            return rows.goesOn
        }
        try rows.end()
        writer.finish()
    }

    /// Whether what finds the rows takes their page; else it is cut where conditions, or places, decide what is written.
    var isPagedByQuery: Bool {
        if case .subject(.receptions) = subject { return false }
        return conditions.isEmpty && !hasTimes && !(subject.isOfPlacesSomeLack && format == .geojson)
    }

    /// - Parameter type: the rows' own type, where they come as any rows.
    func rows<Row>(
        _ columns: [Column<Row>], of type: Any.Type = Row.self, _ ledger: Ledger, total: UInt64? = nil
    ) throws -> ExportedRows<Row> {
        try ExportedRows(
            conditions, columns, of: type, in: ledger, hasTimes: hasTimes, page: page, isPaged: isPagedByQuery,
            title: "exporting \(subject.name)", total: total
        ) { try unknown(in: ledger) }
    }

    /// What was asked about and never heard.
    func unknown(in ledger: Ledger) throws -> CommandError? {
        let nodes = try [node, packets.gateway].compactMap(\.self).map { try $0.number(in: ledger) }
        return try CommandError.unheard(nodes, packets.packet, in: ledger)
    }
}

/// Which packets are exported, as `packets` chooses them.
struct PacketChoice: ParsableArguments {
    @Option(help: "Only packets of this port, for packets and receptions.") var port: PortArgument?
    @Option(help: "Only packets that this node published, for packets and receptions.") var gateway: NodeArgument?
    @Flag(help: "With --node: also packets that it published as a gateway, and those whose payload names it.") var mentions =
        false
    @Option(help: ArgumentHelp("Only the packets with this id.", valueName: "id")) var packet: UInt32?

    var isGiven: Bool { port != nil || gateway != nil || mentions || packet != nil }
}

extension Array {
    /// Columns of a table, in the order of a list with commas.
    fileprivate func named<Row>(_ list: String) throws -> [TableColumn<Row>] where Element == TableColumn<Row> {
        try list.split(separator: ",").map { name in
            let wanted = GenericCell.plain(String(name).replacing(" ", with: ""))
            if let column = first(where: { GenericCell.plain($0.schema.name) == wanted }) { return column }
            let names = map(\.schema.name)
            let there = "there are \(names.joined(separator: ", "))"
            throw CommandError(
                .usage, "there is no column \(name)\(KnownName.suggestion(for: String(name), among: names, then: there))")
        }.once { [$0.schema.name] }
    }
}
