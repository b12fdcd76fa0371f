import MeshViews
import Meshtastic

/// Any row as an object of all its columns.
final class RowCells {
    private let nodes: [Column<NodeRow>]
    private let positions: [Column<PositionRow>]
    private let telemetry: [Column<TelemetryRow>]
    private let messages: [Column<MessageRow>]
    private let waypoints: [Column<WaypointRow>]
    private let traceRoutes: [Column<TraceRouteRow>]
    private let links: [Column<LinkRow>]
    private let gateways: [Column<GatewayRow>]
    private let gatewayNodes: [Column<GatewayNodeRow>]
    private let mapReports: [Column<MapReportRow>]
    private let sensors: [Column<SensorRow>]
    private let nodeChanges: [Column<NodeChangeRow>]
    private let hardware: [Column<HardwareRow>]
    private let radios: [Column<RadioRow>]
    private let unknownTelemetry: [Column<UnknownTelemetryRow>]

    init(_ ledger: Ledger) throws {
        nodes = try ledger.nodeColumns()
        positions = try ledger.positionColumns()
        telemetry = try ledger.telemetryColumns(of: nil)
        messages = try ledger.messageColumns()
        waypoints = try ledger.waypointColumns()
        traceRoutes = try ledger.traceRouteColumns()
        links = try ledger.linkColumns()
        gateways = try ledger.gatewayColumns()
        gatewayNodes = try ledger.gatewayNodeColumns()
        mapReports = try ledger.mapReportColumns()
        sensors = try ledger.sensorColumns()
        nodeChanges = try ledger.nodeChangeColumns()
        hardware = try ledger.hardwareColumns()
        radios = try ledger.radioColumns()
        unknownTelemetry = try ledger.unknownTelemetryColumns()
    }

    func object(_ row: ViewRow) -> CellValue {
        switch row {
        case .node(let row): Self.object(row, nodes)
        case .position(let row): Self.object(row, positions)
        case .telemetry(let row): Self.object(row, telemetry)
        case .message(let row): Self.object(row, messages)
        case .waypoint(let row): Self.object(row, waypoints)
        case .traceRoute(let row): Self.object(row, traceRoutes)
        case .link(let row): Self.object(row, links)
        case .gateway(let row): Self.object(row, gateways)
        case .gatewayNode(let row): Self.object(row, gatewayNodes)
        case .mapReport(let row): Self.object(row, mapReports)
        case .sensor(let row): Self.object(row, sensors)
        case .nodeChange(let row): Self.object(row, nodeChanges)
        case .hardware(let row): Self.object(row, hardware)
        case .radio(let row): Self.object(row, radios)
        case .unknownTelemetry(let row): Self.object(row, unknownTelemetry)
        }
    }

    /// For tables: the columns that a table of such rows shows, as `name=value`.
    func summary(_ row: ViewRow) -> String {
        guard case .object(let members) = object(row) else { return "" }
        let told = members.filter { member in
            switch member.value {
            case .null, .list([]), .object([]): false
            default: !Self.unsaid.contains(member.name)
            }
        }
        return CellValue.object(told).summary
    }

    /// What the line says already, and what only programs ask for.
    private static let unsaid: Set<String> = [
        "time", "node", "sequence", "time_source", "packet_id", "first_sequence", "sent_time", "fix_time", "older_recipe",
    ]

    private static func object<Row>(_ row: Row, _ columns: [Column<Row>]) -> CellValue {
        .object(columns.map { CellMember(name: $0.name, value: $0.value(row)) })
    }
}
