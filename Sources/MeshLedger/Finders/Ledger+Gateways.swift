import MeshViews

extension Ledger {
    /// The gateways and what each received, the most recently heard first; `since` and `until` refer to the last time it passed something on.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func gateways(_ query: RowQuery = RowQuery()) throws(LedgerError) -> [GatewayRow] {
        try rows(in: GatewayRow.table, of: GatewayRow.view, query) { (_: GatewayRow) in true }
    }

    /// What one gateway received; nil for a node that passed nothing on.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func gateway(_ number: UInt32) throws(LedgerError) -> GatewayRow? {
        try row(bigEndian(number), in: GatewayRow.table, of: GatewayRow.view)
    }

    /// Which gateways passed on packets of which nodes, the most recent first.
    ///
    /// - Parameters:
    ///   - gateway: only packets that this one passed on.
    ///   - node: only packets of this node.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func gatewayNodes(
        by gateway: UInt32? = nil, of node: UInt32? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [GatewayNodeRow] {
        try rows(in: GatewayNodeRow.table, of: GatewayNodeRow.view, query) { (row: GatewayNodeRow) in
            (gateway == nil || row.gateway == gateway) && (node == nil || row.node == node)
        }
    }
}

extension GatewayRow: ListedRow {
    package static let listing: RowListing = [.ofNodes]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([GatewayRow]) -> Void
    ) throws(LedgerError) {
        visitor(try ledger.rows(in: table, of: view, query) { (row: GatewayRow) in node == nil || row.gateway == node })
    }
}

extension GatewayNodeRow: ListedRow {
    package static let listing: RowListing = [.ofNodes]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([GatewayNodeRow]) -> Void
    ) throws(LedgerError) {
        visitor(try ledger.gatewayNodes(of: node, query))
    }
}
