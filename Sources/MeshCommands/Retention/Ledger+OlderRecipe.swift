import EventLog
import MeshViews
import Meshtastic
import Projections

extension Ledger {
    /// For rows of events that were dropped: the older recipe that made them. No column where there is none.
    func olderRecipeColumn<Row>(of view: String, _ sequence: @escaping (Row) -> UInt64) throws -> [Column<Row>] {
        let origins = try rowOrigins(of: view)
        guard !origins.isEmpty else { return [] }
        return [Column("older_recipe", isDetail: true) { .optional(origins.olderRecipe(of: sequence($0)) ?? "") }]
    }

    /// Tables have room for what a person decided where anything was.
    func nodeColumns() throws -> [Column<NodeRow>] {
        var columns: [Column<NodeRow>] = NodeRow.columns
        if try hasMarkedNodes() {
            for index in columns.indices where columns[index].name == "note" { columns[index].isDetail = false }
        }
        return try columns + olderRecipeColumn(of: "nodes") { $0.firstSequence }
    }

    private func hasMarkedNodes() throws -> Bool {
        var all = RowQuery()
        all.includesArchived = true
        return try nodes(all).contains {
            $0.isFavorite || $0.isIgnored || $0.isArchived || !$0.note.isEmpty || !$0.alias.isEmpty
        }
    }

    func positionColumns() throws -> [Column<PositionRow>] {
        try PositionRow.columns + olderRecipeColumn(of: "positions") { $0.sequence }
    }

    func telemetryColumns(of kind: TelemetryKind?, only: Set<UInt32>? = nil) throws -> [Column<TelemetryRow>] {
        try TelemetryRow.columns(of: kind, only: only) + olderRecipeColumn(of: "telemetry") { $0.sequence }
    }

    func messageColumns() throws -> [Column<MessageRow>] {
        try MessageRow.columns(names: NodeNames(self)) + olderRecipeColumn(of: "messages") { $0.sequence }
    }

    func waypointColumns() throws -> [Column<WaypointRow>] {
        let now = asOfTime ?? .now
        return try WaypointRow.columns(now: UInt32(clamping: now.seconds)) + olderRecipeColumn(of: "waypoints") { $0.sequence }
    }

    func traceRouteColumns() throws -> [Column<TraceRouteRow>] {
        try TraceRouteRow.columns + olderRecipeColumn(of: "traceroutes") { $0.sequence }
    }

    func linkColumns() throws -> [Column<LinkRow>] {
        try LinkRow.columns + olderRecipeColumn(of: "links") { $0.sequence }
    }

    func gatewayColumns() throws -> [Column<GatewayRow>] {
        try GatewayRow.columns(names: NodeNames(self), sources: EventRows.sourceNames(self))
            + olderRecipeColumn(of: "gateways") { $0.sequence }
    }

    func gatewayNodeColumns() throws -> [Column<GatewayNodeRow>] {
        try GatewayNodeRow.columns + olderRecipeColumn(of: "gateways") { $0.sequence }
    }

    func mapReportColumns() throws -> [Column<MapReportRow>] {
        try MapReportRow.columns + olderRecipeColumn(of: "mapreports") { $0.sequence }
    }

    func sensorColumns() throws -> [Column<SensorRow>] {
        try SensorRow.columns + olderRecipeColumn(of: "sensors") { $0.sequence }
    }

    func nodeChangeColumns() throws -> [Column<NodeChangeRow>] {
        try NodeChangeRow.columns + olderRecipeColumn(of: "nodehistory") { $0.sequence }
    }

    func hardwareColumns() throws -> [Column<HardwareRow>] {
        try HardwareRow.columns + olderRecipeColumn(of: "nodehistory") { $0.sequence }
    }

    func radioColumns() throws -> [Column<RadioRow>] {
        try RadioRow.columns(sources: EventRows.sourceNames(self)) + olderRecipeColumn(of: "radios") { $0.sequence }
    }

    func unknownTelemetryColumns() throws -> [Column<UnknownTelemetryRow>] {
        try UnknownTelemetryRow.columns + olderRecipeColumn(of: "telemetry") { $0.sequence }
    }
}
