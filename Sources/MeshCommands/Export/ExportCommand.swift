import ArgumentParser
import EventLog
import MeshIngest
import MeshLedger
import MeshTables
import Meshtastic
import ProtobufWire

/// What can be exported.
enum ExportSubject: String, ExpressibleByArgument, CaseIterable {
    case all, events, nodes, positions, telemetry, messages, waypoints, traceroutes, links, gateways, mapreports, sensors,
        nodehistory,
        hardware, radios, packets, channels, quarantine, archived, references
    case gatewayNodes = "gateway_nodes"
    case unknownTelemetry = "unknown_telemetry"

    /// What `all` writes: everything but itself.
    static let each = allCases.filter { $0 != .all }

    static let list = allCases.map(\.rawValue).joined(separator: ", ")
}

/// Formats for other programs.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
    case csv, jsonl, json, arrow, parquet, geojson, gpx, kml, ledger

    /// A file for a person's or program's rows, unlike a map or a recording.
    var isOfRows: Bool { OutputFormat(rawValue: rawValue) != nil || TableFormat(rawValue: rawValue) != nil }
}

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write events or rows for other programs.",
        discussion: """
            Raw events keep their bytes (`payload_b64`) and can be imported again. GeoJSON is for positions, waypoints and trace routes, GPX and KML for positions. The format `ledger` is
            a recording of the ledger to share: importing it into an empty one makes an exact copy, sources and tree included; with --node it is
            a new ledger of those packets.

            With --precision, places are no more exact than this many bits of their coordinates (1 to 32, as in a node's settings), or than this distance: the
            middle of a square, and without the height, speed and course that could narrow it down. Raw events and recordings hold what nodes sent.

              meshledger export events --format jsonl > events.jsonl
              meshledger export positions --node '!19025c00' --format gpx > track.gpx
              meshledger export positions --precision 1km --format geojson > public.geojson
              meshledger export positions --format parquet --to positions.parquet
              meshledger export positions --node Rover --since yesterday --until today --format gpx
              meshledger export all --format csv --to everything
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
    @Option(help: "Only this channel, for nodes, messages, waypoints and trace routes.", completion: NameCompletion.channels)
    var channel: String?
    @Option(help: "Only this kind of metrics, for telemetry.") var kind: TelemetryKind?
    @Option(
        help: ArgumentHelp("Whose time --since and --until are, for events and packets: heard or arrival.", valueName: "clock"))
    var by = EventOrder.Clock.heard
    @Flag(help: "Archived ones, too, for nodes and messages.") var archived = false
    @Option(
        help: ArgumentHelp(
            "Places no more exact than this: bits such as 14, or a distance such as 500m or 1km.", valueName: "bits"))
    var precision: PrecisionArgument?
    @Option(
        help: ArgumentHelp(
            "Write there, instead of to standard output; for `all` a folder, with a file for each.", valueName: "file"),
        completion: .file())
    var to: String?
    @Argument(help: "What: one of \(ExportSubject.list); with --format ledger the file to write, or -.")
    var subject: ExportTarget

    func validate() throws {
        if precision != nil { try requirePlaces() }
        if format == .ledger {
            if case .subject(let subject) = subject, subject != .events {
                throw ValidationError("a recording has events; name a file, or - for standard output")
            }
            guard channel == nil, kind == nil, to == nil, page.limit == nil, page.offset == 0 else {
                throw ValidationError("a recording is chosen by --since, --until and --node only")
            }
            return
        }
        if case .subject(.all) = subject {
            guard to != nil else { throw ValidationError("--to names the folder in which everything is written") }
            guard format.isOfRows else { throw ValidationError("everything is csv, json, jsonl, arrow or parquet") }
            guard precision == nil, kind == nil else { throw ValidationError("--precision and --kind are for one subject") }
        }
        guard case .subject(let subject) = subject else {
            guard format.isOfRows, node == nil, channel == nil, kind == nil, !archived else {
                throw ValidationError("what is exported is one of \(ExportSubject.list), or a view of your own as rows")
            }
            return
        }
        if format == .gpx || format == .kml, subject != .positions {
            throw ValidationError("\(format.rawValue) is a format for positions")
        }
        if format == .geojson, ![.positions, .waypoints, .traceroutes].contains(subject) {
            throw ValidationError("geojson is a format for positions, waypoints and trace routes")
        }
        if subject == .events, node != nil { throw ValidationError("raw events are not filtered by node") }
    }

    private func requirePlaces() throws {
        if format != .ledger, case .subject(let subject) = subject,
            [.positions, .waypoints, .traceroutes, .mapreports].contains(subject)
        {
            return
        }
        throw ValidationError(
            "--precision is for positions, waypoints, traceroutes and mapreports: raw events and recordings hold what nodes sent, other rows have no places"
        )
    }

    func run() async throws {
        guard format != .ledger else { return try await exportLedger() }
        try await ledger.reading(past) { ledger in
            guard case .subject(let subject) = subject else { return try exportCustomView(ledger) }
            let number = try node?.number(in: ledger)
            var query = page.query(times, channel: try ledger.channel(named: channel))
            query.newestFirst = false
            query.includesArchived = archived
            if subject == .all { return try exportAll(ledger, number, query) }
            try export(subject, ledger, number, query)
        }
    }

    func export(_ subject: ExportSubject, _ ledger: Ledger, _ number: UInt32?, _ query: RowQuery) throws {
        switch subject {
        case .events: try exportEvents(ledger)
        case .nodes:
            try write(try ledger.nodes(query, only: number), ledger)
        case .positions: try exportPositions(ledger, number, query)
        case .telemetry:
            let columns = { TelemetryRow.tableColumns($0, of: kind) }
            try write(ledger.telemetryColumns(of: kind), ledger, columns) { write in
                try ledger.forEachTelemetry(of: number, kind: kind, query, write)
            }
        case .messages:
            try write(ledger.columns(MessageRow.self), ledger, MessageRow.tableColumns) { write in
                try ledger.forEachMessage(of: number, query, write)
            }
        case .waypoints:
            let rows = reduced(try ledger.waypoints(of: number, query)) { $0.reduced(to: $1) }
            if format == .geojson { return try map(rows, ledger.columns(WaypointRow.self)) { $0.write($1, $2) } }
            try write(rows, ledger)
        case .traceroutes:
            let rows = reduced(try ledger.traceRoutes(of: number, query)) { $0.reduced(to: $1) }
            if format == .geojson { return try map(rows, ledger.columns(TraceRouteRow.self)) { $0.write($1, $2) } }
            try write(rows, ledger)
        case .links: try write(try ledger.links(of: number, query), ledger)
        case .packets: try exportPackets(ledger)
        default: try exportMore(subject, ledger, number, query)
        }
    }

    func output() throws -> StandardOutput { try to.map { try StandardOutput(file: $0) } ?? StandardOutput() }

    /// - Parameters:
    ///   - columns: for texts.
    ///   - typed: for the formats of columns.
    func write<Row>(
        _ columns: @autoclosure () throws -> [Column<Row>], _ ledger: Ledger, _ typed: (TableContext) -> [TableColumn<Row>],
        _ body: ((Row) -> Void) throws -> Void
    ) throws {
        if let format = TableFormat(rawValue: format.rawValue) {
            let (output, columns) = (try output(), typed(try TableContext(ledger)))
            guard !output.isTerminal else {
                throw CommandError(.usage, "\(format.rawValue) is not for a terminal; use --to FILE")
            }
            let isFile = to.map { $0.hasSuffix(".arrow") || $0.hasSuffix(".feather") } ?? false
            let table = try TableExport(subject.name, columns, format: format, isFile: isFile, to: output)
            try body(table.write)
            try table.finish()
            return output.flush()
        }
        let writer = RowWriter(try columns(), format: OutputFormat(rawValue: format.rawValue) ?? .jsonl, output: try output())
        try body(writer.write)
        writer.finish()
    }

    func write<Row: ShownRow & TableRow>(_ rows: [Row], _ ledger: Ledger) throws {
        try write(rows, ledger.columns(Row.self), ledger, Row.tableColumns)
    }

    func write<Row>(
        _ rows: [Row], _ columns: @autoclosure () throws -> [Column<Row>], _ ledger: Ledger,
        _ typed: (TableContext) -> [TableColumn<Row>]
    ) throws {
        try write(columns(), ledger, typed) { write in rows.forEach(write) }
    }

    /// In the order of the log, so that they can be imported again.
    private func exportEvents(_ ledger: Ledger) throws {
        let (offset, limit) = (page.offset, page.limit ?? .max)
        let order = EventOrder(by: by, since: times.since?.time, until: times.until?.time, newestFirst: false)
        let reading = try EventReading(ledger)
        if format == .jsonl {
            let output = try output()
            try reading.visitLog(order, offset: offset, limit: limit) { rows, header, payload in
                var line: [UInt8] = []
                line.reserveCapacity(payload.byteCount * 4 / 3 + 256)
                LedgerLine.append(header, source: rows.source(of: header), payload: payload, to: &line)
                return line
            } part: { lines in
                for line in lines { output.write(line) }
                return true
            }
            return output.flush()
        }
        if TableFormat(rawValue: format.rawValue) != nil {
            return try write([Column<EventRecord>](), ledger, EventRecord.tableColumns) { write in
                try reading.visitLog(order, offset: offset, limit: limit) { rows, header, payload in
                    EventRecord(
                        header, source: rows.source(of: header),
                        encoding: LedgerLine.name(of: header.encoding) ?? String(header.encoding.rawValue),
                        payload: Base64.text(payload))
                } part: { rows in
                    rows.forEach(write)
                    return true
                }
            }
        }
        try write(EventRow.rawColumns, ledger, { _ in [] }) { write in
            try reading.visitLog(order, offset: offset, limit: limit) { rows, header, payload in
                EventRow(header: header, source: rows.source(of: header), payload: Base64.text(payload))
            } part: { rows in
                rows.forEach(write)
                return true
            }
        }
    }

    /// What the index has of the events, in the order of the log. Unless times are chosen, also of those that retention has dropped.
    private func exportPackets(_ ledger: Ledger) throws {
        var (skips, left) = (page.offset, page.limit ?? .max)
        let order = EventOrder(by: by, since: times.since?.time, until: times.until?.time)
        var runs = try ledger.runs(of: order)
        if times.since == nil, times.until == nil {
            let first = ledger.log.first.rawValue
            if first > 1 { runs.insert(EventSequence(1)...EventSequence(first - 1), at: 0) }
        }
        try write(IndexedEvent.columns, ledger, IndexedEvent.tableColumns) { write in
            for run in runs where left > 0 {
                try ledger.forEachIndexedEvent(in: run) { event in
                    if skips > 0 {
                        skips -= 1
                    } else if left > 0 {
                        left -= 1
                        write(event)
                    }
                    return left > 0
                }
            }
        }
    }

    /// The rows, no more exact than requested.
    func reduced<Row>(_ rows: [Row], _ reduce: (Row, PlacePrecision) -> Row) -> [Row] {
        guard let precision = precision?.precision else { return rows }
        return rows.map { reduce($0, precision) }
    }

    private func exportPositions(_ ledger: Ledger, _ node: UInt32?, _ query: RowQuery) throws {
        let precision = precision?.precision
        func forEach(_ body: (PositionRow) -> Void) throws {
            try ledger.forEachPosition(of: node, query) { row in body(precision.map { row.reduced(to: $0) } ?? row) }
        }
        switch format {
        case .geojson:
            let writer = GeoJSONWriter(try output())
            let columns = PositionRow.shown(in: ledger)
            try forEach { writer.write($0, columns) }
            writer.finish()
        case .gpx:
            let writer = GPXWriter(try output(), names: try NodeNames(ledger))
            try forEach { writer.write($0) }
            writer.finish()
        case .kml:
            let writer = KMLWriter(try output(), names: try NodeNames(ledger))
            let columns = PositionRow.shown(in: ledger)
            try forEach { writer.write($0, columns) }
            writer.finish()
        case .csv, .json, .jsonl, .arrow, .parquet, .ledger:
            try write(ledger.columns(PositionRow.self), ledger, PositionRow.tableColumns) { write in try forEach(write) }
        }
    }
}
