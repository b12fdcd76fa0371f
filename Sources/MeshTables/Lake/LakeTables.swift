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
    public var forEach: ((Row) -> Void) throws -> Void
    /// What determines the rows besides the view's recipe and the last event.
    var state = ""
    /// How rows are found without reading all of them; nil if that is not possible.
    var narrow: Narrow?

    /// For rows that never change, except as described by `state`.
    struct Narrow {
        /// The days of rows that were added after an event.
        var newDays: (UInt64) throws -> Set<LakeDay>
        /// The rows of some days.
        var forEach: (Set<LakeDay>, (Row) -> Void) throws -> Void
    }

    public init(
        _ name: String, view: String?, _ columns: [TableColumn<Row>], clock: UInt32? = nil,
        seconds: @escaping (Row) -> Int64?, forEach: @escaping ((Row) -> Void) throws -> Void
    ) {
        (self.name, self.view, self.columns, self.seconds) = (name, view, columns, seconds)
        (self.clock, self.forEach) = (clock, forEach)
    }
}

/// Visits each table of a lake, whatever the type of its rows.
public protocol LakeVisitor {
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

    public func visit(_ visitor: inout some LakeVisitor) throws {
        var query = RowQuery()
        query.newestFirst = false
        let (ledger, all) = (ledger, query)
        try series(all, &visitor)
        try table(MessageRow.self, &visitor, \.time) { try ledger.forEachMessage(all, $0) }
        try table(NodeRow.self, &visitor, \.lastHeard) { try ledger.nodes(all).forEach($0) }
        try table(WaypointRow.self, &visitor, isOfNow: true, \.time) { visit in
            try ledger.waypoints(all).forEach { row in visit(precision.map { row.reduced(to: $0) } ?? row) }
        }
        try table(TraceRouteRow.self, &visitor, \.time) { visit in
            try ledger.traceRoutes(all).forEach { row in visit(precision.map { row.reduced(to: $0) } ?? row) }
        }
        try table(MapReportRow.self, &visitor, \.time) { visit in
            try ledger.mapReports(all).forEach { row in visit(precision.map { row.reduced(to: $0) } ?? row) }
        } columns: { columns in
            MapReportRow.reduced(columns, to: precision)
        }
        try table(LinkRow.self, &visitor, \.time) { try ledger.links(all).forEach($0) }
        try table(GatewayRow.self, &visitor, \.time) { try ledger.gateways(all).forEach($0) }
        try table(GatewayNodeRow.self, &visitor, \.time) { try ledger.gatewayNodes(all).forEach($0) }
        try table(SensorRow.self, &visitor, \.time) { try ledger.sensors(all).forEach($0) }
        try table(NodeChangeRow.self, &visitor, \.time) { try ledger.nodeHistory(all).forEach($0) }
        try table(HardwareRow.self, &visitor, \.time) { try ledger.hardwareRows(all).forEach($0) }
        // A radio's settings have its home and fixed position.
        if precision == nil {
            try table(RadioRow.self, &visitor, \.time) { try ledger.radios(isHistory: true, all).forEach($0) }
        }
        try table(UnknownTelemetryRow.self, &visitor, \.time) { try ledger.unknownTelemetry(all).forEach($0) }
        try table(ChannelRow.self, &visitor, \.lastHeard) { try ledger.channels().forEach($0) }
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
                guard let precision else {
                    try ledger.forEachPosition(of: nil, part, visit)
                    continue
                }
                try ledger.forEachPosition(of: nil, part) { visit($0.reduced(to: precision)) }
            }
        }
        for kind in TelemetryKind.allCases {
            let name = naming(SQLTables.name(kind))
            guard isWanted(name) else { continue }
            try visitor.visit(
                LakeTable(
                    name, view: TelemetryRow.view, TelemetryRow.tableColumns(context, of: kind),
                    seconds: { $0.time == 0 ? nil : Int64($0.time) },
                    forEach: { visit in try ledger.forEachTelemetry(of: nil, kind: kind, all, visit) }))
        }
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
        forEach: @escaping ((Row) -> Void) throws -> Void,
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
                try ledger.fetch(FetchDescriptor<Row>()).forEach(visit)
            })
    }
}
