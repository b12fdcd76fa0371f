import EventLog
import MeshViews
import Meshtastic
import Projections
import ViewQuery

/// A row for lists, tables and exports.
protocol ShownRow: ViewRow {
    static func shown(in ledger: Ledger) throws -> [Column<Self>]

    /// The event that determines which recipe made the row.
    var origin: UInt64 { get }
}

extension ShownRow {
    var origin: UInt64 { sequence }
}

extension Ledger {
    /// The columns of such rows.
    func columns<Row: ShownRow>(_ type: Row.Type) throws -> [Column<Row>] { try Row.shown(in: self) + olderRecipeColumn() }

    func telemetryColumns(of kind: TelemetryKind?, only: Set<UInt32>? = nil) throws -> [Column<TelemetryRow>] {
        try TelemetryRow.columns(of: kind, only: only) + olderRecipeColumn()
    }

    /// For rows of dropped events: the older recipe that made them. No column if there are no such rows.
    private func olderRecipeColumn<Row: ShownRow>() throws -> [Column<Row>] {
        let origins = try rowOrigins(of: Row.view)
        guard !origins.isEmpty else { return [] }
        return [Column("older_recipe", isDetail: true) { .optional(origins.olderRecipe(of: $0.origin) ?? "") }]
    }
}

extension NodeRow: ShownRow {
    var origin: UInt64 { firstSequence }

    /// Tables include people's decisions if there are any.
    static func shown(in ledger: Ledger) throws -> [Column<NodeRow>] {
        var columns: [Column<NodeRow>] = columns
        if try ledger.hasMarkedNodes() {
            for index in columns.indices where columns[index].name == "note" { columns[index].isDetail = false }
        }
        return columns
    }
}

extension Ledger {
    fileprivate func hasMarkedNodes() throws -> Bool {
        var all = RowQuery()
        all.includesArchived = true
        return try nodes(all).contains {
            $0.isFavorite || $0.isIgnored || $0.isArchived || !$0.note.isEmpty || !$0.alias.isEmpty
        }
    }
}

extension PositionRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<PositionRow>] { columns }
}

extension TelemetryRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<TelemetryRow>] { columns(of: nil) }
}

extension MessageRow: ShownRow {
    static func shown(in ledger: Ledger) throws -> [Column<MessageRow>] { try columns(names: NodeNames(ledger)) }
}

extension WaypointRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<WaypointRow>] {
        columns(now: UInt32(clamping: (ledger.asOfTime ?? .now).seconds))
    }
}

extension TraceRouteRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<TraceRouteRow>] { columns }
}

extension LinkRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<LinkRow>] { columns }
}

extension GatewayRow: ShownRow {
    static func shown(in ledger: Ledger) throws -> [Column<GatewayRow>] {
        try columns(names: NodeNames(ledger), sources: EventRows.sourceNames(ledger))
    }
}

extension GatewayNodeRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<GatewayNodeRow>] { columns }
}

extension MapReportRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<MapReportRow>] { columns }
}

extension SensorRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<SensorRow>] { columns }
}

extension NodeChangeRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<NodeChangeRow>] { columns }
}

extension HardwareRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<HardwareRow>] { columns }
}

extension RadioRow: ShownRow {
    static func shown(in ledger: Ledger) throws -> [Column<RadioRow>] { try columns(sources: EventRows.sourceNames(ledger)) }
}

extension UnknownTelemetryRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<UnknownTelemetryRow>] { columns }
}
