import MeshLedger

/// The names of nodes: their alias in this ledger, or else their long name, or else their short name.
struct NodeNames {
    private let names: [UInt32: String]

    init(_ ledger: Ledger) throws {
        var all = RowQuery()
        all.includesArchived = true
        let rows = try ledger.nodes(all)
        names = Dictionary(uniqueKeysWithValues: rows.map { ($0.number, Self.name($0)) })
    }

    private static func name(_ node: NodeRow) -> String {
        if !node.alias.isEmpty { return node.alias }
        return node.longName.isEmpty ? node.shortName : node.longName
    }

    subscript(node: UInt32) -> String { names[node] ?? "" }
}
