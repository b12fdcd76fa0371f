import EventLog
import MeshLedger
import MeshTables
import Meshtastic
import Projections
import ProtobufWire

/// A node, with its last report about its power, its channel and its place.
struct ReportedNode {
    var node: NodeRow
    var device: TelemetryRow?
    var position: PositionRow?
    /// The newest value of each metric, which need not be in the node's newest telemetry.
    private let metrics: [String: CellValue]

    /// Of fewer nodes, all is looked up before another thread would have begun.
    private static let leastForOtherCore = 64
    private static let newest = ["battery_level", "voltage", "channel_utilization"]

    /// A page of nodes with their last reports, which takes two lookups for each. Nodes with an unknown time of reception come last.
    /// - Parameter nodes: the most recently heard first.
    static func all(_ nodes: [NodeRow], _ page: RowQuery, in ledger: Ledger) throws -> [ReportedNode] {
        let nodes = page.newestFirst ? nodes : nodes.reversed()
        let ordered = nodes.filter { !$0.isTimeOfImport } + nodes.filter(\.isTimeOfImport)
        let shown = ordered.dropFirst(max(0, page.offset)).prefix(max(0, page.limit))
        let numbers = shown.map(\.number)
        var beside = WorkAhead<[PositionRow], any Error>()
        if numbers.count > leastForOtherCore { beside.append { Result { try ledger.latestPositions(of: numbers) } } }
        defer { beside.drop() }
        let devices = Dictionary(
            uniqueKeysWithValues: try ledger.latestTelemetry(of: numbers, kind: .device).map { ($0.node, $0) })
        let places = try beside.count > 0 ? beside.removeFirst().get() : ledger.latestPositions(of: numbers)
        let positions = Dictionary(uniqueKeysWithValues: places.map { ($0.node, $0) })
        return try shown.map { node in
            ReportedNode(
                node: node, device: devices[node.number], position: positions[node.number],
                metrics: try devices[node.number].map { try newest($0, in: ledger) } ?? [:])
        }
    }

    private static func newest(_ latest: TelemetryRow, in ledger: Ledger) throws -> [String: CellValue] {
        var found: [String: CellValue] = [:]
        func take(_ row: TelemetryRow) {
            for entry in row.values where newest.contains(entry.field.name) && found[entry.field.name] == nil {
                found[entry.field.name] = entry.value.cell
            }
        }
        take(latest)
        var (query, unknown) = (RowQuery(limit: 16), [TelemetryRow]())
        while found.count < newest.count {
            let rows = try ledger.telemetry(of: latest.node, kind: .device, query)
            for row in rows { if row.timeSource == .import { unknown.append(row) } else { take(row) } }
            guard rows.count == query.limit else { break }
            (query.offset, query.limit) = (query.offset + query.limit, query.limit * 4)
        }
        unknown.forEach(take)
        return found
    }

    private func metric(_ name: String) -> CellValue { metrics[name] ?? .null }
}

extension ReportedNode {
    /// The columns of a table: no more than fit on a terminal of 120 columns.
    private static let inTables: Set<String> = [
        "node", "short_name", "long_name", "last_heard", "snr", "hops_away", "packets", "note", "battery_level", "latitude",
        "longitude", "position_time",
    ]

    static func columns(in ledger: Ledger) throws -> [Column<ReportedNode>] {
        var columns = try ledger.columns(NodeRow.self).map { $0.of { (reported: ReportedNode, use) in use(reported.node) } }
        for index in columns.indices where !inTables.contains(columns[index].name) { columns[index].isDetail = true }
        for index in columns.indices where ["snr", "hops_away", "packets", "note"].contains(columns[index].name) {
            columns[index].isMinor = true
        }
        let now = (ledger.asOfTime ?? .now).seconds
        return columns + [
            metric("battery_level", heading: "battery"),
            metric("voltage", isExtra: true),
            metric("channel_utilization", heading: "util", isExtra: true),
            Column("telemetry_time", isDetail: true, isOfImport: { $0.device?.timeSource == .import }) {
                $0.device.map { .time($0.time) } ?? .null
            },
            Column("latitude", shown: { place($0.position?.latitude) }) { .optional($0.position?.latitude) },
            Column("longitude", shown: { place($0.position?.longitude) }) { .optional($0.position?.longitude) },
            Column("altitude", unit: "m", isDetail: true) { .number($0.position?.altitude) },
            positionTime(now), positionAge(now),
        ]
    }

    /// A table shows how long ago that was.
    private static func positionTime(_ now: Int64) -> Column<ReportedNode> {
        var column = Column<ReportedNode>("position_time", heading: "pos age", shown: { $0.positionAge(at: now) }) {
            $0.position.map { .time($0.time) } ?? .null
        }
        column.isSummary = true
        return column
    }

    /// The same as a length of time, for conditions and orders.
    private static func positionAge(_ now: Int64) -> Column<ReportedNode> {
        var column = Column<ReportedNode>("pos_age", shown: { $0.positionAge(at: now) }) { row in
            // Of an imported one nobody knows its age.
            guard let position = row.position, position.timeSource != .import else { return .null }
            return .integer(max(0, now - Int64(position.time)))
        }
        (column.isAge, column.isOnRequest) = (true, true)
        return column
    }

    /// - Parameter isExtra: only for tables that have room.
    private static func metric(_ name: String, heading: String? = nil, isExtra: Bool = false) -> Column<ReportedNode> {
        let unit = MetricField.all(for: .device).first { $0.name == name }?.unit
        return Column(
            name, heading: heading, unit: unit, isDetail: isExtra, isMinor: isExtra, shown: { $0.metric(name).rounded(2) }
        ) {
            $0.metric(name)
        }
    }

    private func positionAge(at now: Int64) -> String {
        guard let position else { return "" }
        return position.timeSource == .import ? "imported" : TimeText.age(position.time, at: now)
    }

    /// Rounded to about a metre.
    private static func place(_ degrees: Double?) -> String { CellValue.optional(degrees).rounded(5) }
}

extension NodeRow {
    /// What the node reported last: it is looked up for one after the other.
    static func further(in ledger: Ledger, _ isWanted: (String) -> Bool) throws -> [Column<NodeRow>] {
        let own = Set(try ledger.columns(NodeRow.self).map(\.name))
        let last = LastReport(ledger)
        return try ReportedNode.columns(in: ledger).filter { !own.contains($0.name) && (isWanted($0.name) || isWanted($0.title)) }
            .map { column in column.of { $1(last.report(of: $0)) } }
    }
}

extension ReportedNode {
    /// Without reports.
    fileprivate init(_ node: NodeRow) { (self.node, metrics) = (node, [:]) }
}

/// The report of the node that was asked for last: columns ask for one after the other.
private final class LastReport {
    private let ledger: Ledger
    private var last: ReportedNode?

    init(_ ledger: Ledger) { self.ledger = ledger }

    func report(of node: NodeRow) -> ReportedNode {
        if let last, last.node.number == node.number { return last }
        let found = try? ReportedNode.all([node], RowQuery(), in: ledger).first  // a view that is being rebuilt has none
        let report = found ?? ReportedNode(node)
        last = report
        return report
    }
}
