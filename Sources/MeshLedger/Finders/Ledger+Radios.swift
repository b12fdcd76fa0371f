import MeshViews
import Projections

extension Ledger {
    /// What radios reported to their clients about themselves, the newest first.
    ///
    /// - Parameters:
    ///   - source: only this one: the number of a source of the log.
    ///   - part: only this part.
    ///   - isHistory: whether to include earlier reports; otherwise only the newest of each part.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func radios(
        source: UInt32? = nil, part: RadioPart? = nil, isHistory: Bool = false, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [RadioRow] {
        var all = query
        if !isHistory { (all.limit, all.offset, all.newestFirst) = (.max, 0, true) }
        let rows: [RadioRow] = try rows(all, [.equal(\.source, source), .equal(\.part, part)])
        guard !isHistory else { return rows }
        var seen: Set<[UInt64]> = []
        let newest = rows.filter { row in
            seen.insert([UInt64(row.source), UInt64(row.part.rawValue), UInt64(row.section), UInt64(row.slot)]).inserted
        }
        let ordered = query.newestFirst ? newest : newest.reversed()
        return Array(ordered.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
    }
}

extension RadioRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .holdsExactPlaces]
    package static let order = ListOrder.events

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<RadioRow>] { [.equal(\.node, node)] }
}
