import ArgumentParser
import MeshLedger
import MeshTables
import Meshtastic

struct TelemetryList: RowList {
    static let about = ListDescription(
        name: "telemetry", abstract: "What nodes measured, the newest first.",
        discussion: """
            `time` is the node's own clock if it is plausible (from a day before the packet was heard to 5 minutes after), otherwise the time when it was
            heard. `time_source` says which; the column `heard` (for --columns, --where and --sort) always has the latter. With --kind each metric is a separate column, with its unit; without, a row shows its metrics as name=value, and --where, --sort, --columns and the counts take the name of any metric. CSV
            and JSON have every metric of the kind, null if it was not sent; JSON has null for NaN.

              meshledger telemetry --kind device --latest
              meshledger telemetry --node '!19025c00' --kind device
              meshledger telemetry --kind environment --since '1d ago' --format csv
              meshledger telemetry --where 'battery_level < 20' --since 1d
              meshledger telemetry --kind device --where 'battery_level<20' --sort battery_level
              meshledger telemetry --kind device --count-by hour,node --mean channel_utilization
              meshledger telemetry --kind device --node Rover --since 7d --bucket 1h --mean battery_level --chart
              meshledger telemetry --kind device --count-by hour,node --mean channel_utilization --chart
              meshledger telemetry sensors --kind detection
            """,
        noun: .init(abstract: "What nodes measured, and what their sensors sent.", subcommands: [SensorList.command]))

    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only this kind of metrics.") var kind: TelemetryKind?
    @Flag(help: "Only the newest metrics of each node: of the kind or with the metrics asked for, else whichever came last.")
    var latest = false
    @Flag(help: "Instead, metrics of kinds that this version does not know, as received.") var unknown = false

    var askedNodes: [NodeArgument?] { [node] }

    func validate() throws {
        if unknown, kind != nil { throw ValidationError("--unknown is about all kinds without a name") }
        if unknown, latest { throw ValidationError("--latest is about known kinds") }
    }

    /// A table has the metrics in its rows, and those that are asked about: a kind has up to thirty, a node measures only a few.
    func columns(_ request: ListRequest) throws -> [Column<TelemetryRow>] {
        guard let kind else {
            let options = request.options
            return try request.ledger.telemetryColumns(of: nil)
                + TelemetryRow.further(in: request.ledger) { _ in true }.map { column in
                    var column = column
                    column.isOnRequest = !options.mentions(column.name)
                    return column
                }
        }
        guard request.isTable, request.options.columns == nil, !request.options.groups.isGiven else {
            return try request.ledger.telemetryColumns(of: kind) + [.heard(in: request.ledger, \.sequence)]
        }
        var shown = Set(MetricField.all(for: kind).filter { request.options.names($0.name) }.map(\.number))
        try visit(request.query, in: request.ledger) { row in
            for entry in row.values { shown.insert(entry.field.number) }
        }
        return try request.ledger.telemetryColumns(of: kind, only: shown) + [.heard(in: request.ledger, \.sequence)]
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (TelemetryRow) -> Void) throws {
        let number = try node?.number(in: ledger)
        if latest {
            try ledger.latestTelemetry(of: number.map { [$0] }, kind: kind, query).forEach(body)
        } else if number != nil, kind != nil {
            try ledger.forEachTelemetry(of: number, kind: kind, query, body)
        } else {
            try ledger.forEachTelemetryByTime(of: number, kind: kind, query, body)
        }
    }

    /// The metrics that are asked about.
    private static func metrics(in options: ListOptions) -> Set<String> {
        Set(TelemetryKind.allCases.flatMap { MetricField.all(for: $0).map(\.name) }.filter { options.mentions($0) })
    }

    /// Of each node the newest row that has the metrics, in the query's order.
    private func visitLatest(
        _ metrics: Set<String>, _ query: RowQuery, in ledger: Ledger, _ body: (TelemetryRow) -> Void
    ) throws {
        let number = try node?.number(in: ledger)
        var newest: [UInt32: TelemetryRow] = [:]
        for kind in TelemetryKind.allCases where metrics.isSubset(of: MetricField.all(for: kind).map(\.name)) {
            for row in try ledger.latestTelemetry(of: number.map { [$0] }, kind: kind, query.unpaged)
            where metrics.isSubset(of: row.values.map(\.field.name)) {
                if newest[row.node].map({ $0.time < row.time }) ?? true { newest[row.node] = row }
            }
        }
        let rows = newest.values.sorted { ($0.time, $0.sequence) > ($1.time, $1.sequence) }
        (query.newestFirst ? rows : rows.reversed()).dropFirst(query.offset).prefix(query.limit).forEach(body)
    }

    func write(_ request: ListRequest) throws {
        let ledger = request.ledger
        guard unknown else {
            let metrics = latest && kind == nil ? Self.metrics(in: request.options) : []
            return try request.write(columns(request), emptyNote: emptyNote) { query, body in
                if metrics.isEmpty {
                    try visit(query, in: ledger, body)
                } else {
                    try visitLatest(metrics, query, in: ledger, body)
                }
            }
        }
        let number = try node?.number(in: ledger)
        let columns = try ledger.columns(UnknownTelemetryRow.self)
        try request.write(columns, emptyNote: "no telemetry of unknown kinds") { query, body in
            try ledger.unknownTelemetry(of: number, query).forEach(body)
        }
    }
}
