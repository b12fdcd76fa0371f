import Foundation
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
        func isWanted(_ row: TraceRouteRow) -> Bool {
            guard query.channel == nil || query.channel == row.channel else { return false }
            guard let hop else { return true }
            return row.route.contains(hop) || row.routeBack.contains(hop)
        }
        guard let node else { return try rows(in: "traceroutes", of: "traceroutes", query, where: isWanted) }
        return try rows(#Predicate { $0.from == node || $0.to == node }, query, where: isWanted)
    }

    /// The trace route that a node requested with the packet `id`; nil if neither request nor reply was heard.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func traceRoute(id: UInt32, from: UInt32) throws(LedgerError) -> TraceRouteRow? {
        try row(bigEndian(from) + bigEndian(id), in: "traceroutes", of: "traceroutes")
    }
}

extension TraceRouteRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .ofChannels, .ofPlaces, .reports]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([TraceRouteRow]) -> Void
    ) throws(LedgerError) {
        visitor(try ledger.traceRoutes(of: node, query))
    }
}
