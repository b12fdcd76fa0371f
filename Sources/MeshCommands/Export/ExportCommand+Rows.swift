import MeshLedger
import MeshTables
import Meshtastic
import ViewQuery

extension ExportCommand {
    /// Subjects with few rows.
    func exportMore(_ subject: ExportSubject, _ ledger: Ledger, _ node: UInt32?, _ query: RowQuery) throws {
        switch subject {
        case .gateways: try write(try ledger.countedGateways(query).filter { $0.gateway == node ?? $0.gateway }, ledger)
        case .gatewayNodes: try write(try ledger.countedGatewayNodes(of: node, query), ledger)
        case .mapreports:
            let rows = reduced(try ledger.mapReports(of: node, query)) { $0.reduced(to: $1) }
            try write(rows, { MapReportRow.reduced(MapReportRow.tableColumns($0), to: precision?.precision) }, ledger)
        case .sensors: try write(try ledger.sensors(of: node, query), ledger)
        case .nodehistory: try write(try ledger.nodeHistory(of: node, query), ledger)
        case .hardware: try write(try ledger.hardwareRows(of: node, query), ledger)
        case .radios: try write(try ledger.radios(isHistory: true, query).filter { $0.node == node ?? $0.node }, ledger)
        case .unknownTelemetry: try write(try ledger.unknownTelemetry(of: node, query), ledger)
        case .channels:
            var busiestFirst = query
            busiestFirst.newestFirst = true
            let rows = try ledger.channels().chosen(busiestFirst, by: \.lastHeard)
            try write(rows, ChannelRow.tableColumns, ledger)
        case .archived: try write(try ledger.fetch(paged(ArchivedRow.self)), ledger)
        case .references: try write(try ledger.fetch(paged(ReferenceRow.self)), ledger)
        case .quarantine:
            let rows = try ledger.maintenance.quarantine(limit: query.limit, offset: query.offset)
            try write(rows, QuarantineRow.tableColumns, ledger)
        case .all, .events, .nodes, .positions, .telemetry, .messages, .waypoints, .traceroutes, .links, .packets, .receptions,
            .packetEvents:
            return
        }
    }

    /// A file for each subject, and for each kind of metrics.
    func exportAll(_ ledger: Ledger, _ node: UInt32?, _ query: RowQuery) throws {
        guard let folder = to else { return }
        try makeParent(of: folder + "/file")
        var count = 0
        func write(_ subject: ExportSubject, _ kind: TelemetryKind? = nil) throws {
            let file = "\(folder)/\(subject.rawValue)\(kind.map { "_\($0)" } ?? "").\(format.rawValue)"
            // The user has named the folder, not what links in it lead to.
            guard OutputFiles.canReplace(file) else {
                throw CommandError(.cannotCreate, "\(file) is no plain file: move it away, or choose another folder")
            }
            var one = self
            (one.subject, one.kind, one.to) = (.subject(subject), kind, file)
            try one.export(subject, ledger, node, query)
            count += 1
        }
        for subject in ExportSubject.each where node == nil || subject.hasNodes {
            if subject == .telemetry { try TelemetryKind.allCases.forEach { try write(subject, $0) } } else { try write(subject) }
        }
        try OutputFiles.keepAll()
        StandardOutput().line("\(count.counted("file")) in \(DisplayWidth.safe(folder))")
    }

    /// The rows of a view that only the ledger knows, such as a custom one.
    func exportCustomView(_ ledger: Ledger) throws {
        let name = try KnownName.find(
            subject.name, "view", among: (ExportSubject.allCases.map(\.rawValue) + ledger.rowNames).withoutRepeats)
        func export<Row: QueryRow>(_ rows: Row.Type) throws {
            try write(try ledger.fetch(paged(rows)), ledger)
        }
        guard let rows = ledger.rows(of: name) else { throw CommandError(.noInput, "there are no rows of \(name)") }
        try export(rows)
    }

    private func paged<Row: QueryRow>(_ rows: Row.Type) -> FetchDescriptor<Row> {
        var descriptor = FetchDescriptor<Row>()
        if isPagedByQuery { (descriptor.fetchLimit, descriptor.fetchOffset) = (page.limit, page.offset) }
        return descriptor
    }

    private func write<Row: QueryRow>(_ rows: [Row], _ ledger: Ledger) throws {
        try write(rows, { TableColumn.all($0) }, ledger, as: GenericCell.columns(Row.self))
    }
}
