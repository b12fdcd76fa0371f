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
