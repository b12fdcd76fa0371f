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
        try rows(of: node, query, [.equal(\.hearer, hearer), .equal(\.heard, heard)])
    }

    /// How well one node hears another; nil without evidence that it does.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func link(hearer: UInt32, heard: UInt32) throws(LedgerError) -> LinkRow? {
        try row(bigEndian(hearer) + bigEndian(heard))
    }
}

extension LinkRow: ListedRow {
    package static let listing: RowListing = [.ofNodes]

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<LinkRow>] {
        [.any(of: [\.hearer, \.heard], node)]
    }
}
