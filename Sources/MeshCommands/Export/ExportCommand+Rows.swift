import MeshLedger
import MeshTables
import Meshtastic
import ViewQuery

extension ExportCommand {
    func export(_ subject: ExportSubject, _ ledger: Ledger, _ node: UInt32?, _ query: RowQuery) throws {
        switch subject {
        case .events: try exportEvents(ledger)
        case .packets: try exportPackets(ledger)
        case .receptions: try exportReceptions(ledger)
        case .packetEvents: try exportIndex(ledger)
        case .quarantine:
            let rows = try ledger.maintenance.quarantine(limit: query.limit, offset: query.offset)
            try write(rows, QuarantineRow.tableColumns, ledger)
        case .archived: try write(try ledger.fetch(paged(ArchivedRow.self)), ledger)
        case .references: try write(try ledger.fetch(paged(ReferenceRow.self)), ledger)
        default: try exportRows(subject, ledger, node, query)
        }
    }

    private func exportRows(_ subject: ExportSubject, _ ledger: Ledger, _ node: UInt32?, _ query: RowQuery) throws {
        switch subject.rows {
        case is PositionRow.Type where !format.isOfRows: try exportPlaces(ledger, node, query)
        case is TelemetryRow.Type:
            let columns = { TelemetryRow.tableColumns($0, of: kind) }
            try write(columns, ledger, as: ledger.telemetryColumns(of: kind)) { write in
                try ledger.forEachTelemetry(of: node, kind: kind, query) { _ = write($0) }
            } series: { write in
                try ledger.forEachTelemetrySeries(of: node, kind: kind, query, write)
            }
        case is GatewayRow.Type: try write(try ledger.countedGateways(query).filter { $0.gateway == node ?? $0.gateway }, ledger)
        case is GatewayNodeRow.Type: try write(try ledger.countedGatewayNodes(of: node, query), ledger)
        case is ChannelRow.Type:
            var busiestFirst = query
            busiestFirst.newestFirst = true
            try write(try ledger.channels().chosen(busiestFirst, by: \.lastHeard), ledger)
        case let rows as any (ListedRow & MappedRow).Type where format == .geojson: try exportMap(rows, ledger, node, query)
        case let rows as any (ListedRow & ShownRow).Type: try export(rows, ledger, node, query)
        default: try exportCustomView(ledger)
        }
    }

    private func export<Row: ListedRow & ShownRow>(
        _ rows: Row.Type, _ ledger: Ledger, _ node: UInt32?, _ query: RowQuery
    ) throws {
        try write({ Row.reduced(Row.tableColumns($0), to: precision?.precision) }, ledger) { write in
            try Row.visit(in: ledger, of: node, query) { _ = reduced($0).allSatisfy(write) }
        } series: { write in
            try Row.visit(in: ledger, of: node, query) { write(reduced($0)) }
        }
    }

    /// The rows, no more exact than requested.
    func reduced<Row: ListedRow>(_ rows: [Row]) -> [Row] {
        guard let precision = precision?.precision else { return rows }
        return rows.map { $0.reduced(to: precision) }
    }

    private func write<Row: ShownRow & QueryRow>(_ rows: [Row], _ ledger: Ledger) throws {
        try write(rows, Row.tableColumns, ledger)
    }

    private func write<Row>(
        _ rows: [Row], _ table: (TableContext) -> [TableColumn<Row>], _ ledger: Ledger,
        as texts: @autoclosure () throws -> [Column<Row>]? = nil
    ) throws {
        try write(table, ledger, as: texts(), total: UInt64(rows.count)) { write in _ = rows.allSatisfy(write) }
    }

    /// A file for each subject, and for each kind of metrics.
    func exportAll(_ ledger: Ledger, _ node: UInt32?, _ query: RowQuery) throws {
        guard let folder = to else { return }
        try makeParent(of: folder + "/file")
        var count = 0
        func write(_ subject: ExportSubject, _ kind: TelemetryKind? = nil) throws {
            let file = "\(folder)/\(subject.name)\(kind.map { "_\($0)" } ?? "").\(format.rawValue)"
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
            if subject.rows == TelemetryRow.self {
                try TelemetryKind.allCases.forEach { try write(subject, $0) }
            } else {
                try write(subject)
            }
        }
        try OutputFiles.keepAll()
        StandardOutput().line("\(count.counted("file")) in \(DisplayWidth.safe(folder))")
    }

    /// The rows of a view that only the ledger knows, such as a custom one.
    func exportCustomView(_ ledger: Ledger) throws {
        let name = try KnownName.find(
            subject.name, "view", among: (ExportSubject.allCases.map(\.name) + ledger.rowNames).withoutRepeats)
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
