import MeshViews

extension Ledger {
    /// Which node hears which, the most recently heard links first; `since` and `until` refer to when they were last heard.
    ///
    /// - Parameters:
    ///   - node: only links of this node, in either direction.
    ///   - hearer: only links to this receiver: its neighbours.
    ///   - heard: only links from this transmitter.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func links(
        of node: UInt32? = nil, hearer: UInt32? = nil, heard: UInt32? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [LinkRow] {
        try rows(in: "links", of: "links", query) { (row: LinkRow) in
            guard node == nil || row.hearer == node || row.heard == node else { return false }
            return (hearer == nil || row.hearer == hearer) && (heard == nil || row.heard == heard)
        }
    }

    /// How well one node hears another; nil without evidence that it does.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func link(hearer: UInt32, heard: UInt32) throws(LedgerError) -> LinkRow? {
        try row(bigEndian(hearer) + bigEndian(heard), in: "links", of: "links")
    }
}

extension LinkRow: ListedRow {
    package static let listing: RowListing = [.ofNodes]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([LinkRow]) -> Void
    ) throws(LedgerError) {
        visitor(try ledger.links(of: node, query))
    }
}
