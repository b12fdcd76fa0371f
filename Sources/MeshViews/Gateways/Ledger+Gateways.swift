extension Ledger {
    /// The gateways and what each heard, the one heard last first; `since` and `until` are about when it last passed something on.
    public func gateways(_ query: RowQuery = RowQuery()) throws(LedgerError) -> [GatewayRow] {
        try rows(in: GatewayRow.table, of: GatewayRow.view, query) { (_: GatewayRow) in true }
    }

    /// What one gateway heard; nil for a node that passed nothing on.
    public func gateway(_ number: UInt32) throws(LedgerError) -> GatewayRow? {
        try row(UInt64(number), in: GatewayRow.table, of: GatewayRow.view)
    }

    /// Which gateways passed on something of which nodes, the last first.
    ///
    /// - Parameters:
    ///   - gateway: only what this one passed on.
    ///   - node: only what was passed on of this node.
    public func gatewayNodes(
        by gateway: UInt32? = nil, of node: UInt32? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [GatewayNodeRow] {
        try rows(in: GatewayNodeRow.table, of: GatewayNodeRow.view, query) { (row: GatewayNodeRow) in
            (gateway == nil || row.gateway == gateway) && (node == nil || row.node == node)
        }
    }
}
