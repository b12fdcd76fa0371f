import Foundation
public import MeshLedger
import ProtobufWire

extension TelemetryRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<TelemetryRow>] {
        tableColumns(context, of: nil)
    }

    /// - Parameter kind: the kind whose metrics are columns; nil for one column with all metrics as JSON.
    public static func tableColumns(_ context: TableContext, of kind: TelemetryKind?) -> [TableColumn<TelemetryRow>] {
        let metrics =
            kind.map { MetricField.all(for: $0).map(\.column) } ?? [
                TableColumn("metrics", .json { $0.metricsCell }, from: \.kind, \.metrics, meaning: "The metrics by name.")
            ]
        return tableColumns(first: "node time time_source kind", last: "packet_id sequence", and: metrics)
            + olderRecipe(context) { $0.sequence }
    }

    /// Empty if the bytes are damaged; the view's quarantine lists the event.
    package var values: [TelemetryMetrics.Entry] {
        (try? TelemetryMetrics(decoding: metrics.rawSpan, kind: kind))?.values ?? []  // see above
    }

    private var metricsCell: CellValue { .object(values.map { CellMember(name: $0.field.name, value: $0.value.cell) }) }
}

extension MetricField {
    fileprivate var column: TableColumn<TelemetryRow> { TableColumn(name, reader, from: \.kind, \.metrics, unit: unit) }

    private var reader: ColumnReader<TelemetryRow> {
        @Sendable func value(_ row: TelemetryRow) -> MetricValue? { row.values.first { $0.field == self }?.value }
        if isRepeated { return .json { value($0)?.cell ?? .null } }
        return switch kind {
        case .float: .optional { if case .float(let number)? = value($0) { number } else { nil } }
        case .double: .optional { value($0)?.asDouble }
        case .bool, .uint32, .fixed32: .optional { row in value(row).flatMap(\.unsigned).map { UInt32(clamping: $0) } }
        case .uint64, .fixed64: .optional { value($0)?.unsigned }
        case .int32, .sint32, .sfixed32: .optional { row in value(row).flatMap(\.integer).map { Int32(clamping: $0) } }
        case .int64, .sint64, .sfixed64: .optional { value($0)?.integer }
        case .string, .bytes, .message, .enumeration: .optionalText { value($0)?.plain }
        }
    }
}

extension MetricValue {
    fileprivate var unsigned: UInt64? {
        switch self {
        case .unsigned(let value): value
        case .integer(let value): UInt64(exactly: value)
        default: nil
        }
    }

    fileprivate var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .unsigned(let value): Int64(exactly: value)
        default: nil
        }
    }

    fileprivate var plain: String {
        if case .text(let text) = self { return text }
        return cell.json
    }
}

extension UnknownTelemetryRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<UnknownTelemetryRow>] {
        tableColumns(
            first: "node time kind", last: "packet_id sequence",
            and: [
                TableColumn(
                    "metrics_b64", .text { Data($0.metrics).base64EncodedString() }, from: \.metrics,
                    meaning: "The metrics as they came, in base64.")
            ]) + olderRecipe(context) { $0.sequence }
    }
}
