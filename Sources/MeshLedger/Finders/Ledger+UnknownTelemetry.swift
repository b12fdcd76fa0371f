import MeshViews
import Projections

extension Ledger {
    /// Metrics of kinds that this version does not know, the newest first; of one node, or of all.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func unknownTelemetry(
        of node: UInt32? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [UnknownTelemetryRow] {
        try rows(of: node, query)
    }
}

extension UnknownTelemetryRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .reports]
    package static let order = ListOrder.events

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<UnknownTelemetryRow>] { [.equal(\.node, node)] }
}
