import MeshLedger
import MeshTables
import Meshtastic

extension TelemetryRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<TelemetryRow>] {
        [
            "node", .time { $0.timeSource }, "kind",
            ShownColumn(
                "metrics", isText: true,
                shown: { $0.values.map { "\($0.field.name)=\($0.value.cell.rounded(2))" }.joined(separator: " ") }),
        ]
    }

    /// A column for each metric that is asked for, of any kind, the name of the node, and when it was heard.
    static func further(in ledger: Ledger, _ isWanted: (String) -> Bool) -> [Column<TelemetryRow>] {
        let fields = TelemetryKind.allCases.flatMap { MetricField.all(for: $0) }
        let name: [Column<TelemetryRow>] = isWanted("name") ? [.nodeName("name", in: ledger, \.node)] : []
        let heard: [Column<TelemetryRow>] = isWanted("heard") ? [.heard(in: ledger, \.sequence)] : []
        return name + heard
            + fields.map(\.name).withoutRepeats.filter(isWanted).map { name in
                let units = Set(fields.filter { $0.name == name }.map(\.unit))
                return Column<TelemetryRow>(name, unit: units.count == 1 ? units.first ?? nil : nil, isDetail: true) { row in
                    row.values.first { $0.field.name == name }?.value.cell ?? .null
                }
            }
    }
}

extension Ledger {
    /// Each metric of a kind in a column of its own; of all kinds, one column with all metrics.
    /// - Parameter only: the numbers of the metrics that get a column; nil for all.
    func telemetryColumns(of kind: TelemetryKind?, only: Set<UInt32>? = nil) throws -> [Column<TelemetryRow>] {
        guard let kind else { return try columns(TelemetryRow.self) }
        let fields = MetricField.all(for: kind)
        let read = ReadMetrics()
        return try columns(TelemetryRow.shown(in: self) + fields.map { ShownColumn($0.name) }) {
            TelemetryRow.tableColumns($0, of: kind)
        }.compactMap { column in
            guard let field = fields.first(where: { $0.name == column.name }) else { return column }
            guard only?.contains(field.number) ?? true else { return nil }
            var column = column
            column.value = { read[field, of: $0] }
            return column
        }
    }
}

/// The metrics of the row that was asked last: columns ask for one after the other.
private final class ReadMetrics {
    private var row: TelemetryRow?
    private var values: [CellValue] = []

    subscript(field: MetricField, of row: TelemetryRow) -> CellValue {
        if self.row?.metrics != row.metrics || self.row?.kind != row.kind {
            values.removeAll(keepingCapacity: true)
            for entry in row.values {
                let number = Int(entry.field.number)
                if number >= values.count { values += Array(repeating: .null, count: number + 1 - values.count) }
                values[number] = entry.value.cell
            }
            self.row = row
        }
        return values.indices.contains(Int(field.number)) ? values[Int(field.number)] : .null
    }
}

extension UnknownTelemetryRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<UnknownTelemetryRow>] {
        ["node", .time { $0.timeSource }, "kind", ShownColumn("metrics_b64", heading: "metrics", isText: true)]
    }
}

extension SensorRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<SensorRow>] {
        [
            .time { $0.timeSource }, ShownColumn("node", isMain: true), "kind",
            ShownColumn("content", isText: true, shown: { $0.text ?? $0.content.summary }),
            "gateway", "snr", "rssi", ShownColumn("hops_away", heading: "hops"),
        ]
    }
}
