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
        guard let row = try anyNode(number), includingArchived || !row.isArchived else { return nil }
        return row
    }

    private func anyNode(_ number: UInt32) throws(LedgerError) -> NodeRow? {
        try reading("nodes") { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            let key = bigEndian(number)
            guard let value = try transaction.get(store.table("nodes"), key.rawSpan) else { return nil }
            return NodeRow(key: key.rawSpan, value: value)
        }
    }

    /// The nodes, by number or the most recently heard first; `since` and `until` refer to when they were last heard.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func nodes(_ query: RowQuery = RowQuery()) throws(LedgerError) -> [NodeRow] {
        guard let seconds = query.seconds else { return [] }
        let all = try reading("nodes") { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            var cursor = try transaction.cursor(store.table("nodes"))
            var rows: [NodeRow] = []
            while try cursor.next() {
                guard let row = NodeRow(key: cursor.key, value: cursor.value) else { continue }
                if seconds.contains(row.lastHeard), query.channel == nil || query.channel == row.channel, query.takes(row) {
                    rows.append(row)
                }
            }
            return rows
        }
        let sorted =
            query.newestFirst
            ? all.sorted { $0.lastHeard != $1.lastHeard ? $0.lastHeard > $1.lastHeard : $0.number < $1.number } : all
        return Array(sorted.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
    }

    /// The nodes that match a query, or the one that is named: it is selected before rows are counted for the page.
    package func nodes(
        _ query: RowQuery, only number: UInt32?, with pattern: TextPattern? = nil
    ) throws(LedgerError) -> [NodeRow] {
        func all(_ query: RowQuery) throws(LedgerError) -> [NodeRow] {
            if let pattern { try nodes(with: pattern, query) } else { try nodes(query) }
        }
        guard let number else { return try all(query) }
        var every = query
        (every.limit, every.offset) = (.max, 0)
        let rows = try all(every).filter { $0.number == number }
        return Array(rows.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
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
        let isArchived = try archivedTest(ChannelRow.self)
        return try reading("nodes") { (store) throws(StorageError) in
            let transaction = try store.environment.beginRead()
            var cursor = try transaction.cursor(store.table("channels"))
            var rows: [ChannelRow] = []
            while try cursor.next() {
                if let row = ChannelRow(key: cursor.key, value: cursor.value), !(isArchived?(row) ?? false) { rows.append(row) }
            }
            return rows.sorted { left, right in
                if left.receptions != right.receptions { return left.receptions > right.receptions }
                return left.key.lexicographicallyPrecedes(right.key)
            }
        }
    }
}

extension NodeRow: ListedRow {
    package static let listing: RowListing = [.ofNodes, .ofChannels]

    package static func visit(
        in ledger: Ledger, of node: UInt32?, _ query: RowQuery, _ visitor: ([NodeRow]) -> Void
    ) throws(LedgerError) {
        visitor(try ledger.nodes(query, only: node))
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
