import LMDB
import MeshViews
import Projections

extension Ledger {
    /// What nodes announced about themselves over time, the newest first.
    ///
    /// ```swift
    /// let alarms = try ledger.nodeHistory(changes: .otherKey)  // attempts to replace a node's key
    /// ```
    /// - Parameters:
    ///   - node: only this one.
    ///   - changes: only entries with one of these changes; nil for all.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func nodeHistory(
        of node: UInt32? = nil, changes: NodeChanges? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [NodeChangeRow] {
        try rows(of: node, query) { row in changes.map { !row.changes.isDisjoint(with: $0) } ?? true }
    }

    /// The reported hardware models, by number, with their nodes, regardless of the order of the reports.
    ///
    /// - Parameter model: only this one.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func hardware(model: UInt32? = nil) throws(LedgerError) -> [HardwareModelRow] {
        let rows: [HardwareRow] = try rows(RowQuery())
        var last: [UInt32: (sequence: UInt64, model: UInt32)] = [:]
        for row in rows where row.sequence > last[row.node]?.sequence ?? 0 { last[row.node] = (row.sequence, row.model) }
        var models: [UInt32: HardwareModelRow] = [:]
        for row in rows where model == nil || row.model == model {
            models[row.model, default: HardwareModelRow(model: row.model)].add(row, isCurrent: last[row.node]?.model == row.model)
        }
        return models.values.map(\.sorted).sorted { $0.model < $1.model }
    }

    /// Which nodes announced which models, in the order of their last announcements.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func hardwareRows(of node: UInt32? = nil, _ query: RowQuery = RowQuery()) throws(LedgerError) -> [HardwareRow] {
        try rows(of: node, query)
    }

    /// The nodes that are, or were, of a model, by number.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func nodes(ofModel model: UInt32) throws(LedgerError) -> [HardwareRow] {
        try rows(RowQuery(), [.equal(\.model, model)]).sorted { $0.node < $1.node }
    }
}

extension HardwareModelRow {
    fileprivate mutating func add(_ row: HardwareRow, isCurrent: Bool) {
        for seconds in [row.firstTime, row.time] {
            RowTime(seconds, row.isTimeOfImport ? .import : .recorded).widen(&firstTime, &time, &isTimeOfImport)
        }
        if isCurrent { nodes.append(row.node) } else { formerNodes.append(row.node) }
        if isCurrent, !row.firmware.isEmpty { firmware.append(row.firmware) }
        if !row.target.isEmpty { targets.append(row.target) }
    }

    fileprivate var sorted: HardwareModelRow {
        var row = self
        row.nodes.sort()
        row.formerNodes.sort()
        row.targets = Set(targets).sorted()
        row.firmware = Set(firmware).sorted()
        return row
    }
}

extension NodeChangeRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .reports]
    package static let order = ListOrder.events

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<NodeChangeRow>] { [.equal(\.node, node)] }
}

extension HardwareRow: ListedRow {
    package static let listing: RowListing = [.ofNodes]

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<HardwareRow>] { [.equal(\.node, node)] }
}
