import MeshViews
import Projections

extension Ledger {
    /// What sensors and counters sent, the newest first.
    ///
    /// - Parameters:
    ///   - node: only what this one sent.
    ///   - kind: only of this kind.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func sensors(
        of node: UInt32? = nil, kind: SensorKind? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [SensorRow] {
        let prefix = node.map { bigEndian($0) + (kind.map { [$0.rawValue] } ?? []) } ?? []
        return try seriesRows(prefix: prefix, query) { (row: SensorRow) in
            (kind == nil || row.kind == kind) && (query.channel == nil || row.channel == query.channel)
        }
    }
}

extension SensorRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .reports]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([SensorRow]) -> Void
    ) throws(LedgerError) {
        visitor(try ledger.sensors(of: node, query))
    }
}
