internal import LMDB
public import Projections
internal import ProtobufWire

/// Answers a search by words from a view's store.
public struct TextSearch<Row: QueryRow> {
    /// More words of a question than these are passed over.
    static var mostWords: Int { 64 }

    private let query: TextQuery<Row>
    private let text: RowText<Row>
    private let words: [[UInt8]]
    private let filter: RowFilter<Row>?

    /// - Throws: `.unsupported` where the property is no text that is indexed, or the predicate cannot be evaluated.
    public init(_ query: TextQuery<Row>) throws(QueryError) {
        guard let text = Row.texts.first(where: { ($0.keyPath as AnyKeyPath) == query.property }) else {
            let known = Row.texts.map(\.name).joined(separator: ", ")
            throw QueryError(.unsupported, "\(query.property) cannot be searched by words; of \(Row.view) can: \(known)")
        }
        self.query = query
        self.text = text
        var words: [[UInt8]] = []
        WordFold.words(of: query.text) { word in
            if words.count < Self.mostWords, !words.contains(word) { words.append(word) }
        }
        self.words = words
        var archived = FetchDescriptor<Row>()
        archived.includesArchived = query.includesArchived
        filter = archived.hidingArchived(try RowFilter(query.predicate, query.textConditions))
    }

    /// The best answers first, in one consistent read.
    public func hits(in store: ViewStore) throws -> [TextHit<Row>] {
        let transaction = try store.environment.beginRead()
        let index = text.index
        let limit = max(0, query.fetchLimit ?? .max)
        guard !words.isEmpty, limit > 0 else { return [] }
        guard let indexed = RowLayouts<Row>.shared.indexed, try store.isIndexed(indexed, in: transaction) else {
            return try scan(store, transaction, limit)
        }
        var lists: [[Posting]] = []
        for word in words {
            var list: [Posting] = []
            try store.visitPostings(of: word, index, in: transaction) { list.append($0) }
            lists.append(list)
        }
        let totals = try store.textTotals(index, in: transaction)
        let ranking = TextRanking(lists, demandsAll: query.demand == .allWords, rows: totals.rows, length: totals.words)
        let rows = try store.table(Row.table)
        return try pick(ranking.candidates(), limit) { candidate in
            guard let key = try store.textRow(candidate.row, index, in: transaction),
                let value = try transaction.get(rows, key.rawSpan), let row = Row(key: key.rawSpan, value: value)
            else { throw QueryPlan<Row>.malformed(store) }
            return row
        }
    }

    /// The rows of the best candidates that pass the filter. With a filter more and more candidates are put in order, until enough pass.
    private func pick(
        _ candidates: [TextRanking.Candidate], _ limit: Int, _ row: (TextRanking.Candidate) throws -> Row
    ) throws -> [TextHit<Row>] {
        let skips = max(0, query.fetchOffset)
        let (reach, isCut) = limit.addingReportingOverflow(skips)
        var ordered = isCut ? candidates.count : min(reach, candidates.count)
        while true {
            var hits: [TextHit<Row>] = []
            var skipped = 0
            for candidate in TextRanking.best(ordered, of: candidates) {
                let row = try row(candidate)
                if let filter, try !filter.holds(row) { continue }
                if skipped < skips {
                    skipped += 1
                    continue
                }
                hits.append(TextHit(row: row, score: candidate.score))
                if hits.count == limit { return hits }
            }
            if ordered >= candidates.count { return hits }
            ordered = min(candidates.count, ordered * 8)
        }
    }

    // MARK: Without an index

    /// The same answers from all rows, where who may only read finds no index.
    private func scan(_ store: ViewStore, _ transaction: borrowing ReadTransaction, _ limit: Int) throws -> [TextHit<Row>] {
        var lists = [[Posting]](repeating: [], count: words.count)
        var (rows, length): (UInt64, UInt64) = (0, 0)
        var keys: [UInt64: [UInt8]] = [:]
        var cursor = try transaction.cursor(store.table(Row.table))
        while try cursor.next() {
            guard let row = Row(key: cursor.key, value: cursor.value) else { throw QueryPlan<Row>.malformed(store) }
            var counts = [UInt32](repeating: 0, count: words.count)
            var total: UInt32 = 0
            WordFold.words(of: text.get(row)) { word in
                total &+= 1
                for place in words.indices where words[place] == word { counts[place] &+= 1 }
            }
            guard total > 0 else { continue }
            rows += 1
            length += UInt64(total)
            let number = TextIndex.row(of: cursor.key)
            for (place, count) in counts.enumerated() where count > 0 {
                lists[place].append(Posting(row: number, count: count, length: total))
                keys[number] = cursor.key.asArray
            }
        }
        for place in lists.indices { lists[place].sort { $0.row < $1.row } }
        let ranking = TextRanking(lists, demandsAll: query.demand == .allWords, rows: rows, length: length)
        let table = try store.table(Row.table)
        return try pick(ranking.candidates(), limit) { candidate in
            guard let key = keys[candidate.row], let value = try transaction.get(table, key.rawSpan),
                let row = Row(key: key.rawSpan, value: value)
            else { throw QueryPlan<Row>.malformed(store) }
            return row
        }
    }
}
