import EventLog
import LMDB
import MeshViews
import Projections
import ProtobufWire
package import ViewQuery

extension Ledger {
    /// One node; nil if it was never heard or is archived.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func node(_ number: UInt32, includingArchived: Bool = false) throws(LedgerError) -> NodeRow? {
        guard let row = try anyRow(bigEndian(number)) as NodeRow?, includingArchived || !row.isArchived else { return nil }
        return row
    }

    /// The nodes, by number or the most recently heard first; `since` and `until` refer to when they were last heard.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func nodes(_ query: RowQuery = RowQuery()) throws(LedgerError) -> [NodeRow] {
        try rows(query)
    }

    /// The nodes that match a query, or the one that is named: it is selected before rows are counted for the page.
    package func nodes(
        _ query: RowQuery, only number: UInt32?, with pattern: TextPattern? = nil
    ) throws(LedgerError) -> [NodeRow] {
        try rows(of: number, query) { row in pattern.map { $0.matches(row.longName) || $0.matches(row.shortName) } ?? true }
    }

    /// The node with this alias; else those with this long or short name, ignoring case. Includes archived ones.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func nodes(named name: String) throws(LedgerError) -> [NodeRow] {
        let wanted = name.lowercased()
        var query = RowQuery()
        query.includesArchived = true
        let all = try nodes(query)
        if let own = all.first(where: { !name.isEmpty && $0.alias == name }) { return [own] }
        return all.filter { $0.longName.lowercased() == wanted || $0.shortName.lowercased() == wanted }
    }

    /// The traffic of each channel, the busiest first.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func channels() throws(LedgerError) -> [ChannelRow] {
        try fetch(FetchDescriptor<ChannelRow>()).sorted { left, right in
            if left.receptions != right.receptions { return left.receptions > right.receptions }
            return left.key.lexicographicallyPrecedes(right.key)
        }
    }
}

extension NodeRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .ofChannels]
    package static let order = ListOrder.numbers

    package static func wanted(of node: UInt32?, _ query: RowQuery) -> [Wanted<NodeRow>] {
        [
            .equal(\.number, node), .equal(\.channel, query.channel), .equal(\.isIgnored, query.isIgnored),
            .equal(\.isFavorite, query.isFavorite),
        ]
    }
}

extension ChannelRow: ListedRow {
    package static let listing: RowListing = []

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([ChannelRow]) -> Void
    ) throws(LedgerError) {
        visitor(try ledger.channels())
    }

    package var day: UInt32 { lastHeard }
}
