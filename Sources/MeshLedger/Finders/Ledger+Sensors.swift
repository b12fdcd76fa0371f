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
        try rows(of: node, query, [.equal(\.kind, kind)])
    }
}

extension SensorRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .reports]
    package static let order = ListOrder.events

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<SensorRow>] {
        [.equal(\.node, node), .equal(\.channel, query.channel)]
    }
}
