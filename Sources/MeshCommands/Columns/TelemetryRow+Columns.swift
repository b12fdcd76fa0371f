public import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
public import Meshtastic
import ProtobufWire

extension TelemetryKind: ExpressibleByArgument {
    public init?(argument: String) {
        guard let found = TelemetryKind.allCases.first(where: { "\($0)" == argument }) else { return nil }
        self = found
    }

    public static var allValueStrings: [String] { allCases.map { "\($0)" } }
}

extension TelemetryRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<TelemetryRow>] { columns(of: nil) }

    /// The metrics by name; empty if the bytes are damaged.
    var values: [TelemetryMetrics.Entry] {
        (try? TelemetryMetrics(decoding: metrics.rawSpan, kind: kind))?.values ?? []  // the view's quarantine lists it
    }

    /// - Parameter only: the numbers of the metrics that get a column; nil for all.
    static func columns(of kind: TelemetryKind?, only: Set<UInt32>? = nil) -> [Column<TelemetryRow>] {
        let front: [Column<TelemetryRow>] = [
            Column("node") { .text(NodeID.text($0.node)) },
            Column("time") { .time($0.time) },
            Column("time_source", isDetail: true) { .text("\($0.timeSource)") }.named(.cases(TimeSource.self)),
            Column("kind") { .text("\($0.kind)") }.named(.cases(TelemetryKind.self)),
        ]
        let back: [Column<TelemetryRow>] = [
            Column("sent_time", isDetail: true) { .time($0.sentTime) },
            Column("gateway", isDetail: true) { $0.gateway == 0 ? .null : .text(NodeID.text($0.gateway)) },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
        guard let kind else {
            let all = Column<TelemetryRow>(
                "metrics", isText: true, shown: { $0.values.map { "\($0.field.name)=\($0.value.text)" }.joined(separator: " ") }
            ) {
                .object($0.values.map { CellMember(name: $0.field.name, value: $0.value.cell) })
            }
            return front + [all] + back
        }
        let metrics = MetricField.all(for: kind).filter { only?.contains($0.number) ?? true }.map { field in
            Column<TelemetryRow>(field.name, unit: field.unit) { row in
                row.values.first { $0.field == field }?.value.cell ?? .null
            }
        }
        return front + metrics + back
    }
}

extension UnknownTelemetryRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<UnknownTelemetryRow>] {
        [
            Column("node") { .text(NodeID.text($0.node)) },
            Column("time") { .time($0.time) },
            Column("kind") { .unsigned(UInt64($0.kind)) },
            Column("metrics_b64", heading: "metrics", isText: true) { .text(Data($0.metrics).base64EncodedString()) },
            Column("time_source", isDetail: true) { .text("\($0.timeSource)") }.named(.cases(TimeSource.self)),
            Column("sent_time", isDetail: true) { .time($0.sentTime) },
            Column("gateway", isDetail: true) { .node($0.gateway) },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
