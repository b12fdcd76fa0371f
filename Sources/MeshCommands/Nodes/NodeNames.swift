import MeshViews

/// What nodes call themselves: the long name, else the short one, else nothing.
struct NodeNames {
    private let names: [UInt32: String]

    init(_ ledger: Ledger) throws {
        let rows = try ledger.nodes()
        names = Dictionary(uniqueKeysWithValues: rows.map { ($0.number, $0.longName.isEmpty ? $0.shortName : $0.longName) })
    }

    subscript(node: UInt32) -> String { names[node] ?? "" }
}
