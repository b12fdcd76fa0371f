import MeshLedger
import MeshTables
import Meshtastic

/// Another node, how well the node hears it, and how well it hears the node.
struct Neighbor {
    var node: UInt32
    var hears: LinkRow?
    var isHeard: LinkRow?

    var time: UInt32 { max(hears?.time ?? 0, isHeard?.time ?? 0) }

    /// All neighbours within the query's times, in its order.
    static func all(of node: UInt32, _ query: RowQuery, in ledger: Ledger) throws -> [Neighbor] {
        var query = query
        (query.limit, query.offset) = (.max, 0)
        var neighbors: [UInt32: Neighbor] = [:]
        for row in try ledger.links(of: node, query) where !(query.hasTimes && row.isTimeOfImport) {
            let other = row.hearer == node ? row.heard : row.hearer
            if row.hearer == node {
                neighbors[other, default: Neighbor(node: other)].hears = row
            } else {
                neighbors[other, default: Neighbor(node: other)].isHeard = row
            }
        }
        return neighbors.values.sorted { $0.time != $1.time ? ($0.time > $1.time) == query.newestFirst : $0.node < $1.node }
    }

    static func columns(names: NodeNames) -> [Column<Neighbor>] {
        [
            Column("neighbor") { .text(NodeID.text($0.node)) },
            Column("name", canCut: true) { .optional(names[$0.node]) },
            Column("hears_snr", heading: "node hears it", unit: "dB") { .float($0.hears?.snr) },
            time("hears_time") { $0.hears },
            Column("hears_count", heading: "times", isMinor: true) { .unsigned($0.hears?.count ?? 0) },
            Column("heard_snr", heading: "it hears node", unit: "dB") { .float($0.isHeard?.snr) },
            time("heard_time") { $0.isHeard },
            Column("heard_count", heading: "times", isMinor: true) { .unsigned($0.isHeard?.count ?? 0) },
            Column("hears_samples", isDetail: true) { samples($0.hears) },
            Column("heard_samples", isDetail: true) { samples($0.isHeard) },
        ]
    }

    private static func time(_ name: String, _ side: @escaping (Neighbor) -> LinkRow?) -> Column<Neighbor> {
        Column(name, heading: "last", isMinor: true, isOfImport: { side($0)?.isTimeOfImport ?? false }) {
            .time(side($0)?.time ?? 0)
        }
    }

    private static func samples(_ row: LinkRow?) -> CellValue { .list(row?.samples.map(LinkRow.cell) ?? []) }
}
