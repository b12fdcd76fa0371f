import MeshViews

extension Ledger {
    /// The possible kinds of a timeline's rows.
    public static let timelineKinds = reports.map { $0.kind }

    private static let reports = listedRows.filter { $0.listing.contains(.reports) }.compactMap {
        $0 as? any (ListedRow & ViewRow).Type
    }

    /// Everything that a node reported, in one list by time.
    ///
    /// ```swift
    /// for row in try ledger.timeline(of: 0x1902_5c00, RowQuery(limit: 50)) { print(row.kind, row.time) }
    /// ```
    /// - Parameter kinds: only these of `timelineKinds`.
    /// - Complexity: for each kind, as many rows are read as requested.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func timeline(
        of node: UInt32, kinds: Set<String> = Set(Ledger.timelineKinds), _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [any ViewRow] {
        var part = query
        part.offset = 0
        part.limit = query.limit.addingReportingOverflow(max(0, query.offset)).partialValue
        if part.limit < query.limit { part.limit = .max }
        var rows: [any ViewRow] = []
        for kind in Self.reports where kinds.contains(kind.kind) { rows += try kind.reported(by: node, in: self, part) }
        let sorted = rows.sorted { left, right in
            if left.time != right.time { return (left.time < right.time) != query.newestFirst }
            if left.sequence != right.sequence { return (left.sequence < right.sequence) != query.newestFirst }
            return left.kind < right.kind
        }
        return Array(sorted.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
    }
}
