import ArgumentParser
import MeshLedger
import Meshtastic

struct TelemetryList: RowList {
    static let about = ListDescription(
        name: "telemetry", abstract: "What nodes measured, node by node.",
        discussion: """
            With --kind each metric is a separate column, with its unit; without, a row shows its metrics as name=value. CSV
            and JSON have every metric of the kind, null where it was not sent; what is no number (NaN) is null in JSON.

              meshledger telemetry --node '!19025c00' --kind device
              meshledger telemetry --kind environment --since '1d ago' --format csv
              meshledger telemetry --kind device --where 'battery_level<20' --sort battery_level
              meshledger telemetry sensors --kind detection
            """,
        noun: .init(abstract: "What nodes measured, and what their sensors sent.", subcommands: [SensorList.command]))

    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only this kind of metrics.") var kind: TelemetryKind?
    @Flag(help: "Instead, metrics of kinds that this version does not know, as received.") var unknown = false

    func validate() throws {
        if unknown, kind != nil { throw ValidationError("--unknown is about all kinds without a name") }
    }

    /// A table has the metrics in its rows, and those that are asked about: a kind has up to thirty, a node measures only a few.
    func columns(_ request: ListRequest) throws -> [Column<TelemetryRow>] {
        guard let kind, request.isTable, request.options.columns == nil else {
            return try request.ledger.telemetryColumns(of: kind)
        }
        var shown = Set(MetricField.all(for: kind).filter { request.options.names($0.name) }.map(\.number))
        try visit(request.query, in: request.ledger) { row in
            for entry in row.values { shown.insert(entry.field.number) }
        }
        return try request.ledger.telemetryColumns(of: kind, only: shown)
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (TelemetryRow) -> Void) throws {
        try ledger.forEachTelemetry(of: node?.number(in: ledger), kind: kind, query, body)
    }

    func write(_ request: ListRequest) throws {
        let ledger = request.ledger
        guard unknown else {
            return try request.write(columns(request), emptyNote: emptyNote) { try visit($0, in: ledger, $1) }
        }
        let number = try node?.number(in: ledger)
        let columns = try ledger.columns(UnknownTelemetryRow.self)
        try request.write(columns, emptyNote: "no telemetry of unknown kinds") { query, body in
            try ledger.unknownTelemetry(of: number, query).forEach(body)
        }
    }
}
