public import EventLog
import MeshViews

extension Ledger {
    /// The waypoints, the most recently changed first; `since` and `until` refer to the last change.
    ///
    /// ```swift
    /// for waypoint in try ledger.waypoints(activeAt: .now) { print(waypoint.name) }
    /// ```
    /// - Parameters:
    ///   - node: only those that it created or last changed, or that are locked to it.
    ///   - time: only those that are neither deleted nor expired then; nil for all.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func waypoints(
        of node: UInt32? = nil, activeAt time: Timestamp? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [WaypointRow] {
        let second = time.map { UInt32(clamping: $0.seconds) }
        return try rows(of: node, query) { row in second.map { row.state(at: $0) == .active } ?? true }
    }

    /// One waypoint, deleted or not; nil if it was never heard.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func waypoint(_ id: UInt32) throws(LedgerError) -> WaypointRow? {
        try row(bigEndian(id))
    }
}

extension WaypointRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .ofChannels, .ofPlaces, .reports, .changesWithClock]

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<WaypointRow>] {
        [.any(of: [\.creator, \.from, \.lockedTo], node), .equal(\.channel, query.channel)]
    }
}
