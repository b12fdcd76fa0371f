import ArgumentParser
import MeshViews
import Meshtastic

struct NeighborsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "neighbors", abstract: "The nodes that hear a node directly or are heard by it, both ways in one row.",
        discussion: """
            CSV and JSON also have how well each heard the other over time.

              meshledger links neighbors '!19025c00'
              meshledger links neighbors Rover --since '7d ago' --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Argument(help: "The node: !hex, a number, or its name.") var node: NodeArgument

    func run() async throws {
        try await ledger.reading { ledger in
            let number = try node.number(in: ledger)
            var query = page.query(times)
            (query.limit, query.offset) = (.max, 0)
            var neighbors: [UInt32: Neighbor] = [:]
            for row in try ledger.links(of: number, query) {
                let other = row.hearer == number ? row.heard : row.hearer
                if row.hearer == number {
                    neighbors[other, default: Neighbor(node: other)].hears = row
                } else {
                    neighbors[other, default: Neighbor(node: other)].isHeard = row
                }
            }
            let rows = neighbors.values.sorted {
                $0.time != $1.time ? ($0.time > $1.time) == query.newestFirst : $0.node < $1.node
            }
            let writer = output.writer(Neighbor.columns(names: try NodeNames(ledger)))
            for row in rows.dropFirst(page.offset).prefix(page.limit ?? .max) { writer.write(row) }
            writer.finish(emptyNote: "no neighbors")
        }
    }
}

/// Another node, how the node hears it, and how it hears the node.
struct Neighbor {
    var node: UInt32
    var hears: LinkRow?
    var isHeard: LinkRow?

    var time: UInt32 { max(hears?.time ?? 0, isHeard?.time ?? 0) }

    static func columns(names: NodeNames) -> [Column<Neighbor>] {
        [
            Column("neighbor") { .text(NodeID.text($0.node)) },
            Column("name", canCut: true) { .optional(names[$0.node]) },
            Column("hears_snr", heading: "hears it at", unit: "dB") { .float($0.hears?.snr) },
            Column("hears_time", heading: "last") { .time($0.hears?.time ?? 0) },
            Column("hears_count", heading: "times") { .unsigned($0.hears?.count ?? 0) },
            Column("heard_snr", heading: "is heard at", unit: "dB") { .float($0.isHeard?.snr) },
            Column("heard_time", heading: "last") { .time($0.isHeard?.time ?? 0) },
            Column("heard_count", heading: "times") { .unsigned($0.isHeard?.count ?? 0) },
            Column("hears_samples", isDetail: true) { samples($0.hears) },
            Column("heard_samples", isDetail: true) { samples($0.isHeard) },
        ]
    }

    private static func samples(_ row: LinkRow?) -> CellValue { .list(row?.samples.map(LinkRow.cell) ?? []) }
}
