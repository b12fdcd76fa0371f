import Foundation
import Meshtastic
import ViewQuery

extension Ledger {
    /// The kinds that a timeline may have.
    public static let timelineKinds: [ViewRow.Kind] = [
        .position, .telemetry, .message, .waypoint, .traceRoute, .sensor, .nodeChange, .unknownTelemetry,
    ]

    /// All that a node said, whatever it is of, in one list by time.
    ///
    /// ```swift
    /// for row in try ledger.timeline(of: 0x1902_5c00, RowQuery(limit: 50)) { print(row.kind, row.time) }
    /// ```
    /// - Parameter kinds: only these of `timelineKinds`.
    /// - Complexity: of each kind as many rows are read as are asked for.
    public func timeline(
        of node: UInt32, kinds: Set<ViewRow.Kind> = Set(Ledger.timelineKinds), _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [ViewRow] {
        var part = query
        part.offset = 0
        part.limit = query.limit.addingReportingOverflow(max(0, query.offset)).partialValue
        if part.limit < query.limit { part.limit = .max }
        var rows: [ViewRow] = []
        for kind in Self.timelineKinds where kinds.contains(kind) { rows += try self.rows(of: node, kind, part) }
        let sorted = rows.sorted { left, right in
            if left.time != right.time { return (left.time < right.time) != query.newestFirst }
            if left.sequence != right.sequence { return (left.sequence < right.sequence) != query.newestFirst }
            return left.kind.rawValue < right.kind.rawValue
        }
        return Array(sorted.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
    }

    private func rows(of node: UInt32, _ kind: ViewRow.Kind, _ query: RowQuery) throws(LedgerError) -> [ViewRow] {
        switch kind {
        case .position: return try positions(of: node, query).map { .position($0) }
        case .telemetry:
            // Kind by kind, so that each has as many as are asked for.
            var rows: [ViewRow] = []
            for kind in TelemetryKind.allCases { rows += try telemetry(of: node, kind: kind, query).map { .telemetry($0) } }
            return rows
        case .message:
            return try messages(from: node, query).map { .message($0) }
        case .waypoint: return try waypoints(of: node, query).map { .waypoint($0) }
        case .traceRoute: return try traceRoutes(of: node, query).map { .traceRoute($0) }
        case .sensor: return try sensors(of: node, query).map { .sensor($0) }
        case .nodeChange: return try nodeHistory(of: node, query).map { .nodeChange($0) }
        case .unknownTelemetry: return try unknownTelemetry(of: node, query).map { .unknownTelemetry($0) }
        case .node, .link, .gateway, .gatewayNode, .mapReport, .hardware, .radio: return []
        }
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
