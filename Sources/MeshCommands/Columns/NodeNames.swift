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

extension Column {
    /// The name of one of the row's nodes, where it is asked for.
    static func nodeName(_ name: String, in ledger: Ledger, _ node: @escaping (Row) -> UInt32) -> Column {
        let names = NamesOnRequest(ledger)
        return Column(name, canCut: true) { .optional(names[node($0)]) }.onRequest
    }
}

/// The names, which are read when the first one is asked for.
private final class NamesOnRequest {
    private let ledger: Ledger
    private var names: NodeNames?

    init(_ ledger: Ledger) { self.ledger = ledger }

    subscript(node: UInt32) -> String {
        if names == nil { names = try? NodeNames(ledger) }  // a view that is being rebuilt has none
        return names?[node] ?? ""
    }
}
