import MeshLedger
import Meshtastic
import ViewQuery

extension ExportCommand {
    /// Subjects with few rows.
    func exportMore(_ subject: ExportSubject, _ ledger: Ledger, _ node: UInt32?, _ query: RowQuery) throws {
        switch subject {
        case .gateways:
            try write(try ledger.gateways(query).filter { $0.gateway == node ?? $0.gateway }, ledger.columns(GatewayRow.self))
        case .gatewayNodes: try write(try ledger.gatewayNodes(of: node, query), ledger.columns(GatewayNodeRow.self))
        case .mapreports:
            let rows = reduced(try ledger.mapReports(of: node, query)) { $0.reduced(to: $1) }
            try write(rows, ledger.columns(MapReportRow.self).filter { precision == nil || $0.name != "altitude" })
        case .sensors: try write(try ledger.sensors(of: node, query), ledger.columns(SensorRow.self))
        case .nodehistory: try write(try ledger.nodeHistory(of: node, query), ledger.columns(NodeChangeRow.self))
        case .hardware: try write(try ledger.hardwareRows(of: node, query), ledger.columns(HardwareRow.self))
        case .radios:
            try write(
                try ledger.radios(isHistory: true, query).filter { $0.node == node ?? $0.node }, ledger.columns(RadioRow.self))
        case .unknownTelemetry: try write(try ledger.unknownTelemetry(of: node, query), ledger.columns(UnknownTelemetryRow.self))
        case .channels: try write(try ledger.channels(), ChannelRow.columns)
        case .archived: try write(ledger.fetch(FetchDescriptor<ArchivedRow>()), GenericCell.columns(ArchivedRow.self))
        case .references: try write(ledger.fetch(FetchDescriptor<ReferenceRow>()), GenericCell.columns(ReferenceRow.self))
        case .quarantine:
            try write(try ledger.quarantine(limit: query.limit, offset: query.offset), QuarantineRow.columns)
        case .all, .events, .nodes, .positions, .telemetry, .messages, .waypoints, .traceroutes, .links, .packets: return
        }
    }

    /// A file for each subject, and for each kind of metrics.
    func exportAll(_ ledger: Ledger, _ node: UInt32?, _ query: RowQuery) throws {
        guard let folder = to else { return }
        try makeParent(of: folder + "/file")
        var count = 0
        func write(_ subject: ExportSubject, _ kind: TelemetryKind? = nil) throws {
            var one = self
            one.kind = kind
            one.to = "\(folder)/\(subject.rawValue)\(kind.map { "_\($0)" } ?? "").\(format.rawValue)"
            try one.export(subject, ledger, node, query)
            count += 1
        }
        for subject in ExportSubject.each where subject != .events || node == nil {
            if subject == .telemetry { try TelemetryKind.allCases.forEach { try write(subject, $0) } } else { try write(subject) }
        }
        StandardOutput().line("\(count) files in \(DisplayWidth.safe(folder))")
    }

    private func write<Row>(_ rows: [Row], _ columns: [Column<Row>]) throws {
        try write(columns) { writer in for row in rows { writer.write(row) } }
    }

    /// Places and routes as GeoJSON.
    func map<Row>(_ rows: [Row], _ columns: [Column<Row>], _ write: (GeoJSONWriter, Row, [Column<Row>]) -> Void) throws {
        let writer = GeoJSONWriter(try output())
        for row in rows { write(writer, row, columns) }
        writer.finish()
    }
}
