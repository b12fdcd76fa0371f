import EventLog
import Foundation
import MeshViews
import Meshtastic
import Projections

extension FollowCommand {
    func followView(_ view: String) async throws {
        try await ledger.reading { ledger in
            let consumer = try ledger.consumer(named: consumer, of: view, fromNow: from.start == .now, restarts: restart)
            defer { consumer.close() }
            let (batch, follow, restart) = (batch, follow, restart)
            _ = try await StopSignals.cancelling {
                let feed = try ViewFeed(ledger, view)
                if restart { try feed.writeReset() }
                while !Task.isCancelled {
                    let news = try follow ? await consumer.next(limit: batch) : consumer.available(limit: batch)
                    guard let news else { return }
                    guard !news.changes.isEmpty else { return }
                    try feed.write(news.changes)
                    try consumer.acknowledge(news)
                }
            }
        }
    }
}

/// Writes changes as lines and sees that they are handed on.
private final class ViewFeed {
    private let view: String
    private let output = StandardOutput()
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

    init(_ ledger: Ledger, _ view: String) throws {
        self.view = view
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

    func writeReset() throws {
        output.line(CellValue.object([.init(name: "op", value: .text("reset")), .init(name: "view", value: .text(view))]).json)
        try output.sync()
    }

    func write(_ changes: [ViewChange]) throws {
        for change in changes { output.line(object(change).json) }
        output.flush()
        try output.sync()
    }

    private func object(_ change: ViewChange) -> CellValue {
        let key = change.key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        var members = [
            CellMember(name: "op", value: .text(change.value == nil ? "delete" : "put")),
            CellMember(name: "change", value: .unsigned(change.number)), CellMember(name: "view", value: .text(view)),
            CellMember(name: "table", value: .text(change.table)), CellMember(name: "key", value: .text(key)),
        ]
        if let row = row(change) {
            members.append(CellMember(name: "row", value: row))
        } else if let value = change.value {
            members.append(CellMember(name: "row_b64", value: .text(Data(value).base64EncodedString())))
        }
        return .object(members)
    }

    private func row(_ change: ViewChange) -> CellValue? {
        switch change.row {
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
        case nil: nil
        }
    }

    private static func object<Row>(_ row: Row, _ columns: [Column<Row>]) -> CellValue {
        .object(columns.map { CellMember(name: $0.name, value: $0.value(row)) })
    }
}
