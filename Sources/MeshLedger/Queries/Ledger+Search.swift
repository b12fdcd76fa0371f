import Foundation
import MeshViews
import Meshtastic
public import ViewQuery

extension Ledger {
    /// The rows whose text has the words, the best results first.
    ///
    /// ```swift
    /// let since: UInt32 = 1_790_000_000
    /// for hit in try ledger.search(TextQuery("water pump", in: \MessageRow.text, where: #Predicate { $0.time >= since })) {
    ///     print(hit.score, hit.row.text)
    /// }
    /// ```
    /// - Throws: `.query` if the property is not indexed by words, or the predicate cannot be evaluated.
    public func search<Row: QueryRow>(_ query: TextQuery<Row>) throws(LedgerError) -> [TextHit<Row>] {
        try wrappingErrors { try TextSearch(query, self).hits(in: store(of: Row.view)) }
    }

    /// The messages whose text has the words, the best results first, within the query's times, channel and page.
    ///
    /// - Parameters:
    ///   - node: only messages of or to it.
    ///   - pattern: a pattern that their text must also contain, letter by letter.
    ///   - isFuzzy: whether words with a slightly different spelling also match.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func searchMessages(
        _ words: String, _ demand: TextQuery<MessageRow>.Demand = .allWords, of node: UInt32? = nil,
        with pattern: TextPattern? = nil, isFuzzy: Bool = false, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [TextHit<MessageRow>] {
        try search(TextQuery(words, in: \.text, demand), with: pattern, isFuzzy, query) {
            Self.predicate($0, node, query.channel)
        }
    }

    /// The nodes whose long and short names have the words, the best results first, last heard within the query's times.
    /// - Throws: as `searchMessages`.
    public func searchNodes(
        _ words: String, _ demand: TextQuery<NodeRow>.Demand = .allWords, with pattern: TextPattern? = nil, isFuzzy: Bool = false,
        _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [TextHit<NodeRow>] {
        try search(TextQuery(words, in: [\.longName, \.shortName], demand), with: pattern, isFuzzy, query) { seconds in
            let (first, last) = (seconds.lowerBound, seconds.upperBound)
            return first > 0 || last < .max ? #Predicate { $0.lastHeard >= first && $0.lastHeard <= last } : nil
        }
    }

    /// The waypoints whose names and descriptions have the words, the best results first, last changed within the query's times.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func searchWaypoints(
        _ words: String, _ demand: TextQuery<WaypointRow>.Demand = .allWords, with pattern: TextPattern? = nil,
        isFuzzy: Bool = false, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [TextHit<WaypointRow>] {
        try search(TextQuery(words, in: [\.name, \.details], demand), with: pattern, isFuzzy, query) { seconds in
            let (first, last) = (seconds.lowerBound, seconds.upperBound)
            return first > 0 || last < .max ? #Predicate { $0.time >= first && $0.time <= last } : nil
        }
    }

    /// A search within the query's times and page; one of its texts must contain the pattern.
    private func search<Row: QueryRow>(
        _ words: TextQuery<Row>, with pattern: TextPattern?, _ isFuzzy: Bool, _ query: RowQuery,
        where predicate: (ClosedRange<UInt32>) -> Predicate<Row>?
    ) throws(LedgerError) -> [TextHit<Row>] {
        guard let seconds = query.seconds else { return [] }
        var words = words
        (words.isFuzzy, words.predicate) = (isFuzzy, predicate(seconds))
        (words.fetchLimit, words.fetchOffset, words.includesArchived) = (query.limit, query.offset, query.includesArchived)
        let conditions = pattern.map { pattern in words.properties.map { TextCondition(pattern, in: $0) } } ?? []
        words.textConditions = conditions.count > 1 ? [.any(conditions)] : conditions
        return try search(words)
    }

    /// The messages whose text matches a pattern, within the query's times, channel and page, in order of time. The index
    /// of the parts of texts determines which messages within the times are read.
    ///
    /// - Parameter node: only messages of or to it.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func messages(
        with pattern: TextPattern, of node: UInt32? = nil, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [MessageRow] {
        guard let seconds = query.seconds else { return [] }
        let order: SortOrder = query.newestFirst ? .reverse : .forward
        var found = FetchDescriptor<MessageRow>(
            predicate: Self.predicate(seconds, node, query.channel),
            sortBy: [SortDescriptor(\.time, order: order), SortDescriptor(\.sequence, order: order)])
        found.textConditions = [TextCondition(pattern, in: \.text)]
        found.includesArchived = query.includesArchived
        guard query.isRead == nil && query.isIgnored == nil else {
            let rows = try fetch(found).filter(try filter(query, of: node))
            return Array(rows.dropFirst(max(0, query.offset)).prefix(max(0, query.limit)))
        }
        (found.fetchLimit, found.fetchOffset) = (query.limit, query.offset)
        return try fetch(found)
    }

    /// The nodes whose long or short name matches a pattern, in the order of `nodes(_:)`.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func nodes(with pattern: TextPattern, _ query: RowQuery = RowQuery()) throws(LedgerError) -> [NodeRow] {
        try nodes(query, only: nil, with: pattern)
    }

    private static func predicate(
        _ seconds: ClosedRange<UInt32>, _ node: UInt32?, _ channel: String?
    ) -> Predicate<MessageRow>? {
        let (first, last, everyone) = (seconds.lowerBound, seconds.upperBound, NodeID.broadcast)
        if let node, let channel {
            return #Predicate {
                $0.time >= first && $0.time <= last && $0.channel == channel && $0.to == everyone && $0.from == node
            }
        }
        if let node { return #Predicate { $0.time >= first && $0.time <= last && ($0.from == node || $0.to == node) } }
        if let channel {
            return #Predicate { $0.time >= first && $0.time <= last && $0.channel == channel && $0.to == everyone }
        }
        return first > 0 || last < .max ? #Predicate { $0.time >= first && $0.time <= last } : nil
    }
}
