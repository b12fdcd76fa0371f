import ArgumentParser
import MeshViews
import Meshtastic

struct GatewaysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateways", abstract: "What each gateway heard; its reports to the map.",
        discussion: """
            With --nodes, --by or --of, which gateway passed on what of which node.

              meshledger gateways --since '1d ago'
              meshledger gateways --by '!36072603'
              meshledger gateways --of '!19025c00' --format json
              meshledger gateways mapreports
            """,
        subcommands: [GatewaysListCommand.self, MapReportsCommand.self], defaultSubcommand: GatewaysListCommand.self)
}

struct GatewaysListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "What each gateway heard and passed on, the one heard last first.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Flag(help: "Each gateway and node that it heard.") var nodes = false
    @Option(help: "Each node that this gateway heard: !hex, a number, or its name.") var by: NodeArgument?
    @Option(help: "Each gateway that heard this node.") var of: NodeArgument?

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let query = page.query(times)
            guard nodes || by != nil || of != nil else {
                let writer = output.writer(try ledger.columns(GatewayRow.self))
                for row in try ledger.gateways(query) { writer.write(row) }
                return writer.finish(emptyNote: "no gateways")
            }
            let writer = output.writer(try ledger.columns(GatewayNodeRow.self))
            let (gateway, node) = (try by?.number(in: ledger), try of?.number(in: ledger))
            for row in try ledger.gatewayNodes(by: gateway, of: node, query) { writer.write(row) }
            writer.finish(emptyNote: "no gateway heard a node")
        }
    }
}

extension GatewayRow {
    static func columns(names: NodeNames, sources: [UInt32: String]) -> [Column<GatewayRow>] {
        [
            Column("gateway") { .text(NodeID.text($0.gateway)) },
            Column("name", canCut: true) { .optional(names[$0.gateway]) },
            Column("time", heading: "last heard") { .time($0.time) },
            Column("first_time", heading: "first heard", isDetail: true) { .time($0.firstTime) },
            Column("receptions") { .unsigned($0.receptions) },
            Column("packets", heading: "packets") { .unsigned($0.packets) },
            Column("nodes") { .unsigned($0.nodes) },
            Column("own") { .unsigned($0.own) },
            Column("unreadable") { .unsigned($0.unreadable) },
            Column("via_mqtt", isDetail: true) { .unsigned($0.viaMQTT) },
            Column("lowest_snr", unit: "dB") { .float($0.lowestSNR) },
            Column("highest_snr", unit: "dB") { .float($0.highestSNR) },
            Column("lowest_rssi", unit: "dBm") { .number($0.lowestRSSI) },
            Column("highest_rssi", unit: "dBm") { .number($0.highestRSSI) },
            Column("sources", canCut: true) { .list($0.sources.map { .text(sources[$0] ?? String($0)) }) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}

extension GatewayNodeRow {
    static var columns: [Column<GatewayNodeRow>] {
        [
            Column("gateway") { .text(NodeID.text($0.gateway)) },
            Column("node") { .text(NodeID.text($0.node)) },
            Column("time", heading: "last heard") { .time($0.time) },
            Column("first_time", heading: "first heard") { .time($0.firstTime) },
            Column("receptions") { .unsigned($0.receptions) },
            Column("highest_snr", unit: "dB") { .float($0.highestSNR) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
