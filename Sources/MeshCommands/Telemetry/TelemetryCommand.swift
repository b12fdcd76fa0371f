public import ArgumentParser
import Foundation
import MeshViews
public import Meshtastic
import ProtobufWire

extension TelemetryKind: ExpressibleByArgument {
    public init?(argument: String) {
        guard let found = TelemetryKind.allCases.first(where: { "\($0)" == argument }) else { return nil }
        self = found
    }

    public static var allValueStrings: [String] { allCases.map { "\($0)" } }
}

struct TelemetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "telemetry", abstract: "What nodes measured, and what their sensors sent.",
        discussion: """
            With --kind each metric is a separate column, with its unit; without, a row shows its metrics as name=value. CSV
            and JSON have every metric of the kind, null where it was not sent; what is no number (NaN) is null in JSON.

              meshledger telemetry --node '!19025c00' --kind device
              meshledger telemetry --kind environment --since '1d ago' --format csv
              meshledger telemetry sensors --kind detection
            """,
        subcommands: [TelemetryListCommand.self, SensorsCommand.self], defaultSubcommand: TelemetryListCommand.self)
}

struct TelemetryListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "What nodes measured, node by node.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only this kind of metrics.") var kind: TelemetryKind?
    @Flag(help: "Instead, metrics of kinds that this version does not know, as received.") var unknown = false

    func validate() throws {
        if unknown, kind != nil { throw ValidationError("--unknown is about all kinds without a name") }
    }

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let number = try node?.number(in: ledger)
            let query = page.query(times)
            if unknown {
                let writer = output.writer(try ledger.columns(UnknownTelemetryRow.self))
                for row in try ledger.unknownTelemetry(of: number, query) { writer.write(row) }
                return writer.finish(emptyNote: "no telemetry of unknown kinds")
            }
            let present = try output.format == .table ? present(number, query, in: ledger) : nil
            let writer = output.writer(try ledger.telemetryColumns(of: kind, only: present))
            try ledger.forEachTelemetry(of: number, kind: kind, query) { writer.write($0) }
            writer.finish(emptyNote: "no telemetry")
        }
    }

    /// The metrics in the rows: a kind has up to thirty, a node measures only a few.
    private func present(_ node: UInt32?, _ query: RowQuery, in ledger: Ledger) throws -> Set<UInt32>? {
        guard kind != nil else { return nil }
        var numbers: Set<UInt32> = []
        try ledger.forEachTelemetry(of: node, kind: kind, query) { row in
            for entry in row.values { numbers.insert(entry.field.number) }
        }
        return numbers
    }
}

extension TelemetryRow {
    /// The metrics by name; empty where the bytes are damaged.
    var values: [TelemetryMetrics.Entry] {
        (try? TelemetryMetrics(decoding: metrics.rawSpan, kind: kind))?.values ?? []  // the view's quarantine lists it
    }

    /// - Parameter only: the numbers of the metrics that get a column; nil for all.
    static func columns(of kind: TelemetryKind?, only: Set<UInt32>? = nil) -> [Column<TelemetryRow>] {
        let front: [Column<TelemetryRow>] = [
            Column("node") { .text(NodeID.text($0.node)) },
            Column("time") { .time($0.time) },
            Column("time_source", isDetail: true) { .text("\($0.timeSource)") },
            Column("kind") { .text("\($0.kind)") },
        ]
        let back: [Column<TelemetryRow>] = [
            Column("sent_time", isDetail: true) { .time($0.sentTime) },
            Column("gateway", isDetail: true) { $0.gateway == 0 ? .null : .text(NodeID.text($0.gateway)) },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
        guard let kind else {
            let all = Column<TelemetryRow>(
                "metrics", canCut: true, shown: { $0.values.map { "\($0.field.name)=\($0.value.text)" }.joined(separator: " ") }
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

extension UnknownTelemetryRow {
    static var columns: [Column<UnknownTelemetryRow>] {
        [
            Column("node") { .text(NodeID.text($0.node)) },
            Column("time") { .time($0.time) },
            Column("kind") { .unsigned(UInt64($0.kind)) },
            Column("metrics_b64", heading: "metrics", canCut: true) { .text(Data($0.metrics).base64EncodedString()) },
            Column("time_source", isDetail: true) { .text("\($0.timeSource)") },
            Column("sent_time", isDetail: true) { .time($0.sentTime) },
            Column("gateway", isDetail: true) { .node($0.gateway) },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
