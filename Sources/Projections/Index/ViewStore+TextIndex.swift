package import LMDB
import ProtobufWire

/// Text indexes of a view's rows: see `TextIndex`. Whether one is valid is recorded as for other indexes.
extension ViewStore {
    /// The number of rows that have words, and of their words.
    package func textTotals<Transaction: TransactionReading & ~Copyable>(
        _ index: TextIndex, in transaction: borrowing Transaction
    ) throws(StorageError) -> (rows: UInt64, words: UInt64) {
        guard let value = try transaction.get(table(Name.meta), Self.totalsKey(index).rawSpan), value.byteCount == 16 else {
            return (0, 0)
        }
        return (value.bigEndianUInt64(at: 0), value.bigEndianUInt64(at: 8))
    }

    /// The postings of a word in ascending order of their rows.
    package func visitPostings(
        of word: [UInt8], _ index: TextIndex, in transaction: borrowing ReadTransaction, _ visit: (Posting) -> Void
    ) throws(StorageError) {
        var cursor = try transaction.cursor(table(index.postings))
        var isThere = try cursor.seek(atOrAfter: PostingsWriter.key(word, 0).rawSpan)
        while isThere, let first = PostingsWriter.first(cursor.key, of: word) {
            _ = PostingList.visit(cursor.value, after: first, storesFrequencies: index.storesFrequencies) {
                visit($0)
                return true
            }
            isThere = try cursor.next()
        }
    }

    /// The postings of all words with this prefix, one word after the other.
    package func visitPostings(
        beginning: [UInt8], _ index: TextIndex, in transaction: borrowing ReadTransaction, _ visit: (Posting) -> Void
    ) throws(StorageError) {
        var cursor = try transaction.cursor(table(index.postings))
        var isThere = try cursor.seek(atOrAfter: beginning.rawSpan)
        while isThere, cursor.key.byteCount > beginning.count + 8,
            cursor.key.extracting(0..<beginning.count).isSame(as: beginning.rawSpan)
        {
            let first = cursor.key.bigEndianUInt64(at: cursor.key.byteCount - 8)
            _ = PostingList.visit(cursor.value, after: first, storesFrequencies: index.storesFrequencies) {
                visit($0)
                return true
            }
            isThere = try cursor.next()
        }
    }

    /// Each word that rows have, once.
    package func visitWords(
        _ index: TextIndex, in transaction: borrowing ReadTransaction, _ visit: ([UInt8]) -> Void
    ) throws(StorageError) {
        var cursor = try transaction.cursor(table(index.postings))
        var isThere = try cursor.first()
        while isThere {
            let word = Array(cursor.key.asArray.dropLast(9))
            visit(word)
            isThere = try cursor.seek(atOrAfter: PostingsWriter.key(word, .max).rawSpan)
            if isThere, PostingsWriter.first(cursor.key, of: word) == .max { isThere = try cursor.next() }
        }
    }

    /// The key of a row that has words.
    package func textRow(
        _ row: UInt64, _ index: TextIndex, in transaction: borrowing ReadTransaction
    ) throws(StorageError) -> [UInt8]? {
        try transaction.get(table(index.rows), bigEndian(row).rawSpan)?.asArray
    }

    private static func totalsKey(_ index: TextIndex) -> [UInt8] { Array("\(index.postings).totals".utf8) }

    // MARK: Upkeep

    /// - Parameter first: the result of `gather` for the first rows.
    func build(
        _ index: TextIndex, _ first: GatheredWords, in transaction: inout WriteTransaction
    ) throws(StorageError) {
        for name in index.tables { try transaction.removeAll(table(name)) }
        try transaction.delete(table(Name.meta), key: Self.totalsKey(index).rawSpan)
        var gathered = first
        while true {
            try write(&gathered.writer, index, to: &transaction)
            guard gathered.last != nil else { return }
            try gather(&gathered, index)
        }
    }

    /// The words of the first rows, as they are committed.
    ///
    /// - Parameter sortLimit: the bytes that they may take at once.
    func gather(_ index: TextIndex, sortLimit: Int) throws(StorageError) -> GatheredWords {
        var gathered = GatheredWords(writer: try PostingsWriter(index, self), sortLimit: sortLimit)
        try gather(&gathered, index)
        return gathered
    }

    /// Continues after the last row.
    private func gather(_ gathered: inout GatheredWords, _ index: TextIndex) throws(StorageError) {
        let transaction = try environment.beginRead()
        var cursor = try transaction.cursor(table(index.table))
        let last = gathered.last
        gathered.last = nil
        if let last { guard try cursor.seek(atOrAfter: last.rawSpan) else { return } }
        while try cursor.next() {
            gathered.writer.add(cursor.key, cursor.value)
            if gathered.writer.pendingBytes >= gathered.sortLimit { return gathered.last = cursor.key.asArray }
        }
    }

    func update(
        _ index: TextIndex, _ changed: EntryKeys, _ before: borrowing ReadTransaction, in transaction: inout WriteTransaction
    ) throws(StorageError) {
        let rows = try table(index.table)
        var writer = try PostingsWriter(index, self)
        var keys = changed
        while let key = keys.next() {
            let old = try writer.words(of: key.rawSpan, before.get(rows, key.rawSpan))
            let new = try writer.words(of: key.rawSpan, transaction.get(rows, key.rawSpan))
            writer.change(key.rawSpan, from: old, to: new)
        }
        try write(&writer, index, to: &transaction)
    }

    private func write(
        _ writer: inout PostingsWriter, _ index: TextIndex, to transaction: inout WriteTransaction
    ) throws(StorageError) {
        guard writer.count > 0 else { return }
        let totals = try textTotals(index, in: transaction)
        let rows = UInt64(clamping: Int(clamping: totals.rows) + writer.growth.rows)
        let words = UInt64(clamping: Int(clamping: totals.words) + writer.growth.words)
        try writer.write(to: &transaction)
        let value = bigEndian(rows) + bigEndian(words)
        try transaction.put(table(Name.meta), key: Self.totalsKey(index).rawSpan, value: value.rawSpan)
    }

    // MARK: Checking

    /// What is wrong with a text index, compared with the words of the rows.
    func fault(of index: TextIndex, in transaction: borrowing ReadTransaction) throws(StorageError) -> String? {
        var wanted: [[UInt8]: [Posting]] = [:]
        var totals: (rows: UInt64, words: UInt64) = (0, 0)
        var cursor = try transaction.cursor(table(index.table))
        var reader = try PostingsWriter(index, self)
        while try cursor.next() {
            let words = reader.words(of: cursor.key, cursor.value)
            guard words.length > 0 else { continue }
            let row = TextIndex.row(of: cursor.key)
            totals = (totals.rows + 1, totals.words + UInt64(words.length))
            guard try textRow(row, index, in: transaction) == cursor.key.asArray else {
                return "the words of \(index.name) lack a row of \(index.table)"
            }
            for count in words.counts {
                let word = Array(reader.words.table[Int(count.word)])
                wanted[word, default: []].append(Posting(row: row, count: count.times, length: words.length))
            }
        }
        let stored = try textTotals(index, in: transaction)
        let keys = index.keysOf == nil ? try transaction.count(table(index.rows)) : Int(totals.rows)
        guard stored == totals, keys == Int(totals.rows) else {
            return "the words of \(index.name) are counted as \(stored); those of its rows are \(totals)"
        }
        var found: [[UInt8]: [Posting]] = [:]
        var lists = try transaction.cursor(table(index.postings))
        while try lists.next() {
            let word = Array(lists.key.asArray.dropLast(9))
            let first = lists.key.bigEndianUInt64(at: max(0, lists.key.byteCount - 8))
            found[word, default: []] +=
                PostingList.decode(lists.value, after: first, storesFrequencies: index.storesFrequencies) ?? []
        }
        let isSame = wanted.mapValues { $0.sorted { $0.row < $1.row } } == found
        return isSame ? nil : "the words of \(index.name) are not those of its rows"
    }
}

/// The words of some rows, ready to be written.
struct GatheredWords: Sendable {
    var writer: PostingsWriter
    let sortLimit: Int
    /// The key of the last of the rows, if more may follow.
    var last: [UInt8]?
}
