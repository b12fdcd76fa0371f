import Foundation
import MeshViews
import Meshtastic
import ViewQuery

extension Ledger {
    /// The rows of a node with a time, kind by kind.
    private static let said: [(kind: String, rows: @Sendable (Ledger, UInt32, RowQuery) throws(LedgerError) -> [any ViewRow])] = [
        (PositionRow.kind, { (ledger, node, query) throws(LedgerError) in try ledger.positions(of: node, query) }),
        (TelemetryRow.kind, { (ledger, node, query) throws(LedgerError) in try ledger.telemetryOfAllKinds(of: node, query) }),
        (MessageRow.kind, { (ledger, node, query) throws(LedgerError) in try ledger.messages(from: node, query) }),
        (WaypointRow.kind, { (ledger, node, query) throws(LedgerError) in try ledger.waypoints(of: node, query) }),
        (TraceRouteRow.kind, { (ledger, node, query) throws(LedgerError) in try ledger.traceRoutes(of: node, query) }),
        (SensorRow.kind, { (ledger, node, query) throws(LedgerError) in try ledger.sensors(of: node, query) }),
        (NodeChangeRow.kind, { (ledger, node, query) throws(LedgerError) in try ledger.nodeHistory(of: node, query) }),
        (
            UnknownTelemetryRow.kind,
            { (ledger, node, query) throws(LedgerError) in try ledger.unknownTelemetry(of: node, query) }
        ),
    ]

    /// The possible kinds of a timeline's rows.
    public static let timelineKinds = said.map(\.kind)

    /// Everything that a node reported, in one list by time.
    ///
    /// ```swift
    /// for row in try ledger.timeline(of: 0x1902_5c00, RowQuery(limit: 50)) { print(row.kind, row.time) }
    /// ```
    /// - Parameter kinds: only these of `timelineKinds`.
    /// - Complexity: for each kind, as many rows are read as requested.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func timeline(
        of node: UInt32, kinds: Set<String> = Set(Ledger.timelineKinds), _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [any ViewRow] {
        var part = query
        part.offset = 0
        part.limit = query.limit.addingReportingOverflow(max(0, query.offset)).partialValue
        if part.limit < query.limit { part.limit = .max }
        var rows: [any ViewRow] = []
        for said in Self.said where kinds.contains(said.kind) { rows += try said.rows(self, node, part) }
        let sorted = rows.sorted { left, right in
            if left.time != right.time { return (left.time < right.time) != query.newestFirst }
            if left.sequence != right.sequence { return (left.sequence < right.sequence) != query.newestFirst }
            return left.kind < right.kind
        }
        return Array(sorted.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
    }

    /// Kind by kind, so that each yields the requested number.
    private func telemetryOfAllKinds(of node: UInt32, _ query: RowQuery) throws(LedgerError) -> [TelemetryRow] {
        var rows: [TelemetryRow] = []
        for kind in TelemetryKind.allCases { rows += try telemetry(of: node, kind: kind, query) }
        return rows
    }

    private func messages(from node: UInt32, _ query: RowQuery) throws(LedgerError) -> [MessageRow] {
        guard let seconds = query.seconds else { return [] }
        let (first, last) = (seconds.lowerBound, seconds.upperBound)
        var wanted = FetchDescriptor<MessageRow>(
            predicate: #Predicate { $0.from == node && $0.time >= first && $0.time <= last })
        let order: SortOrder = query.newestFirst ? .reverse : .forward
        wanted.sortBy = [SortDescriptor(\.time, order: order), SortDescriptor(\.sequence, order: order)]
        guard query.channel == nil else { return try fetch(wanted).filter { $0.channel == query.channel } }
        wanted.fetchLimit = query.limit
        return try fetch(wanted)
    }
}
