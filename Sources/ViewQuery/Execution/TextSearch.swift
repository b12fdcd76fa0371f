internal import LMDB
package import Projections
internal import ProtobufWire

/// Answers a word search from a view's store.
public struct TextSearch<Row: QueryRow> {
    /// Further words of a query are ignored.
    static var mostWords: Int { 64 }

    private let query: TextQuery<Row>
    private let texts: [RowText<Row>]
    private let words: [WordSpelling]
    private let filter: RowFilter<Row>?

    /// - Parameter reading: the source for conditions and archived rows; nil if the view is queried alone.
    /// - Throws: `.unsupported` if a property is not an indexed text, or the predicate cannot be evaluated.
    public init(_ query: TextQuery<Row>, _ reading: (any RowReading)? = nil) throws(QueryError) {
        var texts: [RowText<Row>] = []
        for property in query.properties {
            guard let text = Row.texts.first(where: { ($0.keyPath as AnyKeyPath) == property }) else {
                let known = Row.texts.map(\.name).joined(separator: ", ")
                throw QueryError(.unsupported, "\(property) cannot be searched by words; in \(Row.view) these can: \(known)")
            }
            if !texts.contains(where: { $0.name == text.name }) { texts.append(text) }
        }
        self.query = query
        self.texts = texts
        var words: [[UInt8]] = []
        WordFold.words(of: query.text) { word in
            if words.count < Self.mostWords, !words.contains(word) { words.append(word) }
        }
        self.words = words.map { WordSpelling($0, isFuzzy: query.isFuzzy) }
        var archived = FetchDescriptor<Row>()
        archived.includesArchived = query.includesArchived
        filter = try BoundConditions(query.conditions, includesArchived: query.includesArchived, reading)
            .added(to: archived.hidingArchived(try RowFilter(query.predicate, query.textConditions)))
    }

    /// The best results first, in one consistent read.
    package func hits(in store: ViewStore) throws -> [TextHit<Row>] {
        let transaction = try store.environment.beginRead()
        let limit = max(0, query.fetchLimit ?? .max)
        guard !words.isEmpty, !texts.isEmpty, limit > 0 else { return [] }
        guard let indexed = RowLayouts<Row>.shared.indexed, try store.isIndexed(indexed, in: transaction) else {
            return try scan(store, transaction, limit)
        }
        let properties = try texts.map { text in
            let totals = try store.textTotals(text.index, in: transaction)
            return TextRanking.Property(
                lists: try lists(of: text.index, store, transaction), rows: totals.rows, length: totals.words)
        }
        let ranking = TextRanking(properties, demandsAll: query.demand == .allWords)
        let rows = try store.table(Row.table)
        return try pick(ranking.candidates(), limit) { candidate in
            for text in texts {
                guard let key = try store.textRow(candidate.row, text.index, in: transaction) else { continue }
                guard let value = try transaction.get(rows, key.rawSpan), let row = Row(key: key.rawSpan, value: value) else {
                    break
                }
                return row
            }
            throw QueryPlan<Row>.malformed(store)
        }
    }

    /// The occurrences of each word, in any accepted spelling.
    private func lists(
        of index: TextIndex, _ store: ViewStore, _ transaction: borrowing ReadTransaction
    ) throws -> [[TextRanking.Occurrence]] {
        var spellings: [[(word: [UInt8], share: Double)]] = words.map { [($0.word, 1)] }
        let fuzzy = words.indices.filter { !words[$0].isExactOnly }
        if !fuzzy.isEmpty {
            try store.visitWords(index, in: transaction) { word in
                for place in fuzzy where word != words[place].word {
                    if let share = words[place].share(of: word) { spellings[place].append((word, share)) }
                }
            }
        }
        return try spellings.map { spellings in
            var list: [TextRanking.Occurrence] = []
            for (word, share) in spellings {
                try store.visitPostings(of: word, index, in: transaction) {
                    list.append(TextRanking.Occurrence(row: $0.row, times: share * Double($0.count), length: $0.length))
                }
            }
            return spellings.count == 1 ? list : Self.joined(list)
        }
    }

    /// Merges the occurrences of each row, in ascending order of the rows.
    private static func joined(_ list: [TextRanking.Occurrence]) -> [TextRanking.Occurrence] {
        var joined: [TextRanking.Occurrence] = []
        for occurrence in list.sorted(by: { $0.row < $1.row }) {
            if joined.last?.row == occurrence.row {
                joined[joined.count - 1].times += occurrence.times
            } else {
                joined.append(occurrence)
            }
        }
        return joined
    }

    /// The rows of the best candidates that pass the filter. With a filter, more and more candidates are sorted, until enough pass.
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

    /// The same results from all rows, for a read-only opener that finds no index.
    private func scan(_ store: ViewStore, _ transaction: borrowing ReadTransaction, _ limit: Int) throws -> [TextHit<Row>] {
        let none = TextRanking.Property(lists: Array(repeating: [], count: words.count), rows: 0, length: 0)
        var properties = texts.map { _ in none }
        var keys: [UInt64: [UInt8]] = [:]
        var cursor = try transaction.cursor(store.table(Row.table))
        while try cursor.next() {
            guard let row = Row(key: cursor.key, value: cursor.value) else { throw QueryPlan<Row>.malformed(store) }
            let number = TextIndex.row(of: cursor.key)
            for (place, text) in texts.enumerated() where add(text.get(row), of: number, to: &properties[place]) {
                keys[number] = cursor.key.asArray
            }
        }
        for place in properties.indices {
            for word in words.indices { properties[place].lists[word].sort { $0.row < $1.row } }
        }
        let ranking = TextRanking(properties, demandsAll: query.demand == .allWords)
        let table = try store.table(Row.table)
        return try pick(ranking.candidates(), limit) { candidate in
            guard let key = keys[candidate.row], let value = try transaction.get(table, key.rawSpan),
                let row = Row(key: key.rawSpan, value: value)
            else { throw QueryPlan<Row>.malformed(store) }
            return row
        }
    }

    /// - Returns: whether the text has one of the words.
    private func add(_ text: String, of row: UInt64, to property: inout TextRanking.Property) -> Bool {
        var times = [Double](repeating: 0, count: words.count)
        var length: UInt32 = 0
        WordFold.words(of: text) { word in
            length &+= 1
            for place in words.indices { times[place] += words[place].share(of: word) ?? 0 }
        }
        guard length > 0 else { return false }
        property.rows += 1
        property.length += UInt64(length)
        for place in words.indices where times[place] > 0 {
            property.lists[place].append(TextRanking.Occurrence(row: row, times: times[place], length: length))
        }
        return times.contains { $0 > 0 }
    }
}
