import ArgumentParser
import MeshViews
import Meshtastic

struct LinksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links", abstract: "Which node hears which, and how well; trace routes.",
        discussion: """
            Known from receptions without a hop (direct), from nodes' lists of their neighbours (reported) and from trace routes (traced). CSV and
            JSON also have how well each was heard over time.

              meshledger links
              meshledger links --hearer '!19025c00' --since '1d ago'
              meshledger links --node '!19025c00' --format json
              meshledger links neighbors '!19025c00'
            """,
        subcommands: [LinksListCommand.self, NeighborsCommand.self, TraceRoutesCommand.self],
        defaultSubcommand: LinksListCommand.self)
}

struct LinksListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Which node hears which directly, and how well, the most recently heard links first.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only links of this node, in either direction: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only the nodes that this node hears: its neighbours.") var hearer: NodeArgument?
    @Option(help: "Only the nodes that hear this node.") var heard: NodeArgument?

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let writer = output.writer(try ledger.columns(LinkRow.self))
            let (node, hearer, heard) = (
                try node?.number(in: ledger), try hearer?.number(in: ledger), try heard?.number(in: ledger)
            )
            for row in try ledger.links(of: node, hearer: hearer, heard: heard, page.query(times)) { writer.write(row) }
            writer.finish(emptyNote: "no links")
        }
    }
}

extension LinkRow {
    static var columns: [Column<LinkRow>] {
        [
            Column("hearer") { .text(NodeID.text($0.hearer)) },
            Column("heard", heading: "hears") { .text(NodeID.text($0.heard)) },
            Column("snr", unit: "dB") { .float($0.snr) },
            Column("rssi", unit: "dBm") { .number($0.rssi) },
            Column("evidence", heading: "known from") { .text("\($0.evidence)") },
            Column("time", heading: "last heard") { .time($0.time) },
            Column("first_time", heading: "first heard") { .time($0.firstTime) },
            Column("direct") { .unsigned($0.direct) },
            Column("reported") { .unsigned($0.reported) },
            Column("traced") { .unsigned($0.traced) },
            Column("samples", isDetail: true) { .list($0.samples.map(Self.cell)) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }

    static func cell(_ sample: Sample) -> CellValue {
        .object([
            CellMember(name: "time", value: .time(sample.time)), CellMember(name: "snr", value: .float(sample.snr)),
            CellMember(name: "evidence", value: .text("\(sample.evidence)")),
        ])
    }
}
