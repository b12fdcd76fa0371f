import Foundation
public import ViewQuery

extension Ledger {
    /// The rows whose text has the words, the best answers first.
    ///
    /// ```swift
    /// let since: UInt32 = 1_790_000_000
    /// for hit in try ledger.search(TextQuery("water pump", in: \MessageRow.text, where: #Predicate { $0.time >= since })) {
    ///     print(hit.score, hit.row.text)
    /// }
    /// ```
    /// - Throws: `.query` where the property is not indexed by words, or the predicate cannot be evaluated.
    public func search<Row: QueryRow>(_ query: TextQuery<Row>) throws(LedgerError) -> [TextHit<Row>] {
        do {
            return try TextSearch(query).hits(in: store(of: Row.view))
        } catch {
            throw queryError(error)
        }
    }

    /// The messages whose text has the words, the best answers first, of the times, the channel and the page that a query asks for.
    ///
    /// - Parameter node: only messages of or to it.
    public func searchMessages(
        _ words: String, _ demand: TextQuery<MessageRow>.Demand = .allWords, of node: UInt32? = nil,
        _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [TextHit<MessageRow>] {
        guard let seconds = query.seconds else { return [] }
        var search = TextQuery(words, in: \MessageRow.text, demand, fetchLimit: query.limit)
        search.fetchOffset = query.offset
        search.predicate = Self.predicate(seconds, node, query.channel)
        return try self.search(search)
    }

    /// The nodes whose long name has the words, the best answers first, that were last heard at the times that a query asks for.
    public func searchNodes(
        _ words: String, _ demand: TextQuery<NodeRow>.Demand = .allWords, _ query: RowQuery = RowQuery()
    ) throws(LedgerError) -> [TextHit<NodeRow>] {
        guard let seconds = query.seconds else { return [] }
        var search = TextQuery(words, in: \NodeRow.longName, demand, fetchLimit: query.limit)
        search.fetchOffset = query.offset
        let (first, last) = (seconds.lowerBound, seconds.upperBound)
        if first > 0 || last < .max { search.predicate = #Predicate { $0.lastHeard >= first && $0.lastHeard <= last } }
        return try self.search(search)
    }

    private static func predicate(
        _ seconds: ClosedRange<UInt32>, _ node: UInt32?, _ channel: String?
    ) -> Predicate<MessageRow>? {
        let (first, last) = (seconds.lowerBound, seconds.upperBound)
        if let node, let channel {
            return #Predicate {
                $0.time >= first && $0.time <= last && $0.channel == channel && ($0.from == node || $0.to == node)
            }
        }
        if let node { return #Predicate { $0.time >= first && $0.time <= last && ($0.from == node || $0.to == node) } }
        if let channel { return #Predicate { $0.time >= first && $0.time <= last && $0.channel == channel } }
        return first > 0 || last < .max ? #Predicate { $0.time >= first && $0.time <= last } : nil
    }
}
