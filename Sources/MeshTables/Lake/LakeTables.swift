import EventLog
import Foundation
public import MeshLedger
import ViewQuery

/// A table of a lake: the source of its rows, and the day of each.
public struct LakeTable<Row> {
    public var name: String
    /// The view whose recipe determines the rows; nil for the log.
    public var view: String?
    public var columns: [TableColumn<Row>]
    /// Seconds since 1970; nil for rows without a time.
    public var seconds: (Row) -> Int64?
    /// If rows change with the clock: the time that they were read for, in seconds since 1970.
    public var clock: UInt32?
    /// Visits the rows, some at a time.
    public var forEach: (([Row]) -> Void) throws -> Void
    /// What determines the rows besides the view's recipe and the last event.
    var state = ""
    /// The first event that the log still has, if rows go with their events; `state` then begins with it.
    var firstEvent: UInt64?
    /// How rows are found without reading all of them; nil if that is not possible.
    var narrow: Narrow?

    /// For rows that never change, except as described by `state`.
    struct Narrow {
        /// The days of rows that were added after an event.
        var newDays: (UInt64) throws -> Set<LakeDay>
        /// The rows of some days.
        var forEach: (Set<LakeDay>, ([Row]) -> Void) throws -> Void
    }

    public init(
        _ name: String, view: String?, _ columns: [TableColumn<Row>], clock: UInt32? = nil,
        seconds: @escaping (Row) -> Int64?, forEach: @escaping (([Row]) -> Void) throws -> Void
    ) {
        (self.name, self.view, self.columns, self.seconds) = (name, view, columns, seconds)
        (self.clock, self.forEach) = (clock, forEach)
    }
}

/// Visits each table of a lake, whatever the type of its rows.
public protocol LakeVisitor {
    /// Takes one table, whose rows it may visit.
    /// - Throws: an error that ends the visit of all tables.
    mutating func visit<Row>(_ table: LakeTable<Row>) throws
}

/// The tables of a ledger: those of its views and of its log. Archived rows are left out, as in exports.
public struct LakeTables {
    private let ledger: Ledger
    private let context: TableContext
    private let precision: PlacePrecision?
    private let isWanted: (String) -> Bool
    private let head: UInt64?
    private let naming: (String) -> String
    private let clock: (String) -> UInt32?

    /// - Parameters:
    ///   - precision: the precision of places; nil to leave them unchanged.
    ///   - names: the tables; nil for all.
    ///   - head: the last event of the table of events; nil for the newest.
    /// - Throws: errors of the views and of the log.
    public init(
        _ ledger: Ledger, precision: PlacePrecision? = nil, only names: Set<String>? = nil, through head: UInt64? = nil
    ) throws {
        try self.init(ledger, precision: precision, only: names, through: head, naming: { $0 })
    }

    /// - Parameters:
    ///   - naming: what the lake calls a table.
    ///   - clock: the time for which a table's rows are read; nil for now.
    init(
        _ ledger: Ledger, precision: PlacePrecision?, only names: Set<String>?, through head: UInt64? = nil,
        naming: @escaping (String) -> String, clock: @escaping (String) -> UInt32? = { _ in nil }
    ) throws {
        self.ledger = ledger
        (self.naming, self.clock) = (naming, clock)
        (self.precision, self.head) = (precision, head)
        context = try TableContext(ledger)
        isWanted = { names?.contains($0) ?? true }
    }

    /// Visits each of the tables.
    /// - Throws: what `visitor` throws, and errors of the views and of the log.
    public func visit(_ visitor: inout some LakeVisitor) throws {
        var query = RowQuery()
        query.newestFirst = false
        let (ledger, all) = (ledger, query)
        try series(all, &visitor)
        try table(MessageRow.self, &visitor, \.time) { visit in
            try RowParts.of(visit) { try ledger.forEachMessage(all, $0) }
        }
        try table(NodeRow.self, &visitor, \.lastHeard) { $0(try ledger.nodes(all)) }
        try table(WaypointRow.self, &visitor, isOfNow: true, \.time) { visit in
            visit(reduced(try ledger.waypoints(all)) { $0.reduced(to: $1) })
        }
        try table(TraceRouteRow.self, &visitor, \.time) { visit in
            visit(reduced(try ledger.traceRoutes(all)) { $0.reduced(to: $1) })
        }
        try table(MapReportRow.self, &visitor, \.time) { visit in
            visit(reduced(try ledger.mapReports(all)) { $0.reduced(to: $1) })
        } columns: { columns in
            MapReportRow.reduced(columns, to: precision)
        }
        try table(LinkRow.self, &visitor, \.time) { $0(try ledger.links(all)) }
        try table(GatewayRow.self, &visitor, \.time) { $0(try ledger.gateways(all)) }
        try table(GatewayNodeRow.self, &visitor, \.time) { $0(try ledger.gatewayNodes(all)) }
        try table(SensorRow.self, &visitor, \.time) { $0(try ledger.sensors(all)) }
        try table(NodeChangeRow.self, &visitor, \.time) { $0(try ledger.nodeHistory(all)) }
        try table(HardwareRow.self, &visitor, \.time) { $0(try ledger.hardwareRows(all)) }
        // A radio's settings have its home and fixed position.
        if precision == nil {
            try table(RadioRow.self, &visitor, \.time) { $0(try ledger.radios(isHistory: true, all)) }
        }
        try table(UnknownTelemetryRow.self, &visitor, \.time) { $0(try ledger.unknownTelemetry(all)) }
        try table(ChannelRow.self, &visitor, \.lastHeard) { $0(try ledger.channels()) }
        try LogLakeTables(ledger, context, isExact: precision == nil, through: head, isWanted: isWanted).visit(&visitor)
        // Only the rows of built-in views know how to be less exact.
        for name in ledger.rowNames where precision == nil && !["archived", "references"].contains(name) {
            guard let rows = ledger.rows(of: name), !(rows is any TableRow.Type) else { continue }
            try custom(rows, &visitor)
        }
    }

    private func series(_ all: RowQuery, _ visitor: inout some LakeVisitor) throws {
        let ledger = ledger
        try table(PositionRow.self, &visitor, \.time) { visit in
            for part in try parts(all) {
                try ledger.forEachPositionSeries(of: nil, part, readsAhead: false) { visit(reduced($0) { $0.reduced(to: $1) }) }
            }
        }
        for kind in TelemetryKind.allCases {
            let name = naming(SQLTables.name(kind))
            guard isWanted(name) else { continue }
            try visitor.visit(
                LakeTable(
                    name, view: TelemetryRow.view, TelemetryRow.tableColumns(context, of: kind),
                    seconds: { $0.time == 0 ? nil : Int64($0.time) },
                    forEach: { visit in try ledger.forEachTelemetrySeries(of: nil, kind: kind, all, readsAhead: false, visit) }))
        }
    }

    /// The rows, no more exact than requested.
    private func reduced<Row>(_ rows: [Row], _ reduce: (Row, PlacePrecision) -> Row) -> [Row] {
        guard let precision else { return rows }
        return rows.map { reduce($0, precision) }
    }

    /// All positions, a few days at a time: the fewer files are written at once, the larger their pages are.
    private func parts(_ all: RowQuery) throws -> [RowQuery] {
        func end(_ order: SortOrder) throws -> Int64? {
            let sort = SortDescriptor(\PositionRow.time, order: order)
            return try ledger.fetch(FetchDescriptor<PositionRow>(sortBy: [sort], fetchLimit: 1)).first.map {
                Int64($0.time) / 86_400
            }
        }
        guard let first = try end(.forward), let last = try end(.reverse) else { return [all] }
        let days = max(16, (last - first) / 32)
        return stride(from: first, through: last, by: Int(days)).map { start in
            var part = all
            if start > first { part.since = Timestamp(seconds: start * 86_400) }
            if start + days <= last { part.until = Timestamp(seconds: (start + days) * 86_400) }
            return part
        }
    }

    private func table<Row: TableRow & QueryRow>(
        _ rows: Row.Type, _ visitor: inout some LakeVisitor, isOfNow: Bool = false, _ time: @escaping (Row) -> UInt32,
        forEach: @escaping (([Row]) -> Void) throws -> Void,
        columns: ([TableColumn<Row>]) -> [TableColumn<Row>] = { $0 }
    ) throws {
        guard isWanted(Row.tableName) else { return }
        let context = context.at(isOfNow ? clock(Row.tableName) : nil)
        try visitor.visit(
            LakeTable(
                Row.tableName, view: Row.view, columns(Row.tableColumns(context)), clock: isOfNow ? context.now : nil,
                seconds: { time($0) == 0 ? nil : Int64(time($0)) }, forEach: forEach))
    }

    private func custom<Row: QueryRow>(_ rows: Row.Type, _ visitor: inout some LakeVisitor) throws {
        guard isWanted(Row.table) else { return }
        let ledger = ledger
        let time = GenericTable.time(Row.self)
        try visitor.visit(
            LakeTable(Row.table, view: Row.view, GenericTable.columns(Row.self), seconds: { time?($0) }) { visit in
                visit(try ledger.fetch(FetchDescriptor<Row>()))
            })
    }
}
