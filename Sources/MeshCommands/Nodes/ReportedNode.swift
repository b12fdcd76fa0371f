import MeshLedger
import Meshtastic
import ProtobufWire

/// A node, and what it reported last about its power, its channel and its place.
struct ReportedNode {
    var node: NodeRow
    var device: TelemetryRow?
    var position: PositionRow?
    private let metrics: [TelemetryMetrics.Entry]

    init(_ node: NodeRow, device: TelemetryRow?, position: PositionRow?) {
        (self.node, self.device, self.position) = (node, device, position)
        metrics = device?.values ?? []
    }

    /// The nodes with what they reported last: two lookups for each.
    static func all(_ nodes: [NodeRow], in ledger: Ledger) throws -> [ReportedNode] {
        let numbers = nodes.map(\.number)
        let devices = Dictionary(
            uniqueKeysWithValues: try ledger.latestTelemetry(of: numbers, kind: .device).map { ($0.node, $0) })
        let positions = Dictionary(uniqueKeysWithValues: try ledger.latestPositions(of: numbers).map { ($0.node, $0) })
        return nodes.map { ReportedNode($0, device: devices[$0.number], position: positions[$0.number]) }
    }

    private func metric(_ name: String) -> CellValue { metrics.first { $0.field.name == name }?.value.cell ?? .null }
}

extension ReportedNode {
    /// What a table has: no more than a terminal of 120 columns shows.
    private static let inTables: Set<String> = [
        "node", "short_name", "long_name", "last_heard", "snr", "hops_away", "packets", "note", "battery_level", "latitude",
        "longitude", "position_time",
    ]

    static func columns(in ledger: Ledger) throws -> [Column<ReportedNode>] {
        var columns = try ledger.columns(NodeRow.self).map { $0.of(\ReportedNode.node) }
        for index in columns.indices where !inTables.contains(columns[index].name) { columns[index].isDetail = true }
        let now = (ledger.asOfTime ?? .now).seconds
        return columns + [
            metric("battery_level", heading: "battery"),
            metric("voltage", isDetail: true),
            metric("channel_utilization", heading: "util", isDetail: true),
            Column("telemetry_time", isDetail: true) { $0.device.map { .time($0.time) } ?? .null },
            Column("latitude", shown: { place($0.position?.latitude) }) { .optional($0.position?.latitude) },
            Column("longitude", shown: { place($0.position?.longitude) }) { .optional($0.position?.longitude) },
            Column("altitude", unit: "m", isDetail: true) { .number($0.position?.altitude) },
            Column("position_time", heading: "pos age", shown: { $0.position.map { TimeText.age($0.time, at: now) } ?? "" }) {
                $0.position.map { .time($0.time) } ?? .null
            },
        ]
    }

    private static func metric(_ name: String, heading: String? = nil, isDetail: Bool = false) -> Column<ReportedNode> {
        let unit = MetricField.all(for: .device).first { $0.name == name }?.unit
        return Column(name, heading: heading, unit: unit, isDetail: isDetail, shown: { $0.metric(name).rounded(2) }) {
            $0.metric(name)
        }
    }

    /// To about a meter.
    private static func place(_ degrees: Double?) -> String { CellValue.optional(degrees).rounded(5) }
}
