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
        (query.newestFirst, query.readsAhead) = (false, false)
        let (ledger, all) = (ledger, query)
        try telemetry(all, &visitor)
        for row in Ledger.listedRows where row != TelemetryRow.self {
            if let row = row as? any (ListedRow & TableRow).Type { try table(row, all, &visitor) }
        }
        try LogLakeTables(ledger, context, isExact: precision == nil, through: head, isWanted: isWanted).visit(&visitor)
        // Only the rows of built-in views know how to be less exact.
        for name in ledger.rowNames where precision == nil && !["archived", "references"].contains(name) {
            guard let rows = ledger.rows(of: name), !(rows is any TableRow.Type) else { continue }
            try custom(rows, &visitor)
        }
    }

    private func telemetry(_ all: RowQuery, _ visitor: inout some LakeVisitor) throws {
        let ledger = ledger
        for kind in TelemetryKind.allCases {
            let name = naming(SQLTables.name(kind))
            guard isWanted(name) else { continue }
            try visitor.visit(
                LakeTable(
                    name, view: TelemetryRow.view, TelemetryRow.tableColumns(context, of: kind),
                    seconds: { $0.time == 0 ? nil : Int64($0.time) },
                    forEach: { visit in try ledger.forEachTelemetrySeries(of: nil, kind: kind, all, visit) }))
        }
    }

    private func table<Row: ListedRow & TableRow>(
        _ rows: Row.Type, _ all: RowQuery, _ visitor: inout some LakeVisitor
    ) throws {
        guard isWanted(Row.tableName), precision == nil || !Row.listing.contains(.holdsExactPlaces) else { return }
        let context = Row.listing.contains(.changesWithClock) ? context.at(clock(Row.tableName)) : context
        let table = LakeTable(
            Row.tableName, view: Row.view, Row.reduced(Row.tableColumns(context), to: precision),
            clock: Row.listing.contains(.changesWithClock) ? context.now : nil,
            seconds: { (row: Row) in row.day == 0 ? nil : Int64(row.day) }
        ) { visit in
            try forEach(Row.self, all) { rows in
                visit(precision.map { precision in rows.map { $0.reduced(to: precision) } } ?? rows)
            }
        }
        try visitor.visit(table)
    }

    private func forEach<Row: ListedRow>(_ rows: Row.Type, _ all: RowQuery, _ visit: ([Row]) -> Void) throws {
        guard rows == PositionRow.self else { return try Row.visit(in: ledger, of: nil, all, visit) }
        for part in try parts(all) { try Row.visit(in: ledger, of: nil, part, visit) }
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
