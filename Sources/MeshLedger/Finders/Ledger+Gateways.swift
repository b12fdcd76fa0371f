import MeshViews

extension Ledger {
    /// The gateways and what each received, the most recently heard first; `since` and `until` refer to the last time it passed something on.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func gateways(_ query: RowQuery = RowQuery()) throws(LedgerError) -> [GatewayRow] {
        try rows(query)
    }

    /// What one gateway received; nil for a node that passed nothing on.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func gateway(_ number: UInt32) throws(LedgerError) -> GatewayRow? {
        try row(bigEndian(number))
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
        try rows(of: node, query, [.equal(\.gateway, gateway)])
    }
}

extension GatewayRow: ListedRow {
    package static let listing: RowListing = [.ofNodes]

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<GatewayRow>] { [.equal(\.gateway, node)] }
}

extension GatewayNodeRow: ListedRow {
    package static let listing: RowListing = [.ofNodes]

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<GatewayNodeRow>] { [.equal(\.node, node)] }
}
