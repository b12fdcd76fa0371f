public import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
public import Meshtastic
import ProtobufWire

extension TelemetryKind: ExpressibleByArgument {
    public init?(argument: String) {
        guard let found = TelemetryKind.allCases.first(where: { "\($0)".lowercased() == argument.lowercased() }) else {
            return nil
        }
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
            Column(time: { $0.time }, of: { $0.timeSource }),
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column(cases: "kind") { $0.kind },
        ]
        let back: [Column<TelemetryRow>] = [
            Column("sent_time", isDetail: true) { .time($0.sentTime) },
            Column("gateway", isDetail: true) { $0.gateway == 0 ? .null : .text(NodeID.text($0.gateway)) },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
        guard let kind else {
            let all = Column<TelemetryRow>(
                "metrics", isText: true,
                shown: { $0.values.map { "\($0.field.name)=\($0.value.cell.rounded(2))" }.joined(separator: " ") }
            ) {
                .object($0.values.map { CellMember(name: $0.field.name, value: $0.value.cell) })
            }
            return front + [all] + back
        }
        let read = ReadMetrics()
        let metrics = MetricField.all(for: kind).filter { only?.contains($0.number) ?? true }.map { field in
            Column<TelemetryRow>(field.name, unit: field.unit) { read[field, of: $0] }
        }
        return front + metrics + back
    }

    /// A column for each metric that is asked for, of any kind.
    static func metrics(_ isWanted: (String) -> Bool) -> [Column<TelemetryRow>] {
        let names = TelemetryKind.allCases.flatMap { MetricField.all(for: $0).map(\.name) }.withoutRepeats
        return names.filter(isWanted).map { name in
            Column<TelemetryRow>(name, isDetail: true) { row in
                row.values.first { $0.field.name == name }?.value.cell ?? .null
            }
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
    static func shown(in ledger: Ledger) -> [Column<UnknownTelemetryRow>] {
        [
            Column("node") { .text(NodeID.text($0.node)) },
            Column(time: { $0.time }, of: { $0.timeSource }),
            Column("kind") { .unsigned(UInt64($0.kind)) },
            Column("metrics_b64", heading: "metrics", isText: true) { .text(Data($0.metrics).base64EncodedString()) },
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column("sent_time", isDetail: true) { .time($0.sentTime) },
            Column("gateway", isDetail: true) { .node($0.gateway) },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
