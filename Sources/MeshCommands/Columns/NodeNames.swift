import MeshLedger
import MeshTables

/// The names of nodes: their alias in this ledger, or else their long name, or else their short name.
struct NodeNames {
    private let names: [UInt32: String]

    init(_ ledger: Ledger) throws {
        let context = TableContext(of: ledger)
        names = context.nodeNames
        try context.check()
    }

    subscript(node: UInt32) -> String { names[node] ?? "" }
}
