import MeshViews

extension Ledger {
    /// What gateways report to the public map, the newest report first; `since` and `until` refer to the newest report of each.
    ///
    /// - Parameter node: only the report of this node.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func mapReports(of node: UInt32? = nil, _ query: RowQuery = RowQuery()) throws(LedgerError) -> [MapReportRow] {
        try rows(of: node, query)
    }

    /// The newest map report of one node; nil if it sent none.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func mapReport(of node: UInt32) throws(LedgerError) -> MapReportRow? {
        try row(bigEndian(node))
    }
}

extension MapReportRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .ofPlaces]

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<MapReportRow>] {
        [.equal(\.node, node), .equal(\.channel, query.channel)]
    }
}
