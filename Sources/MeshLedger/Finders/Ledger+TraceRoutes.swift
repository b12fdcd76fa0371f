import MeshViews

extension Ledger {
    /// The trace routes, the newest first; `since` and `until` refer to the packet that was heard first.
    ///
    /// - Parameters:
    ///   - node: only those that it requested, or that trace it; not those that it only relays, see `hop`.
    ///   - hop: only those whose route, there or back, contains this node.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func traceRoutes(
        of node: UInt32? = nil, through hop: UInt32? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [TraceRouteRow] {
        try rows(of: node, query) { row in hop.map { row.route.contains($0) || row.routeBack.contains($0) } ?? true }
    }

    /// The trace route that a node requested with the packet `id`; nil if neither request nor reply was heard.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func traceRoute(id: UInt32, from: UInt32) throws(LedgerError) -> TraceRouteRow? {
        try row(bigEndian(from) + bigEndian(id))
    }
}

extension TraceRouteRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .ofChannels, .ofPlaces, .reports]

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<TraceRouteRow>] {
        [.any(of: [\.from, \.to], node), .equal(\.channel, query.channel)]
    }
}
