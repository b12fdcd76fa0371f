import MeshViews
import Projections

extension Ledger {
    /// Metrics of kinds that this version does not know, the newest first; of one node, or of all.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func unknownTelemetry(
        of node: UInt32? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [UnknownTelemetryRow] {
        try seriesRows(prefix: node.map { bigEndian($0) } ?? [], query) { (_: UnknownTelemetryRow) in true }
    }
}

extension UnknownTelemetryRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .reports]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([UnknownTelemetryRow]) -> Void
    ) throws(LedgerError) {
        visitor(try ledger.unknownTelemetry(of: node, query))
    }
}
