import LMDB
import ProtobufWire

/// Changes to a text index, gathered row by row and written word by word.
struct PostingsWriter {
    private struct Edit {
        var row: UInt64
        /// Nil where the row does not have the word any more.
        var posting: Posting?
    }

    private let postings: RawTable
    private let rows: RawTable
    private var edits: [[UInt8]: [Edit]] = [:]
    private var keys: [(row: UInt64, key: [UInt8]?)] = []
    /// How many changes wait.
    private(set) var count = 0
    /// By how much the number of rows that have words, and of their words, changes.
    private(set) var growth = (rows: 0, words: 0)

    init(_ index: TextIndex, _ store: ViewStore) throws(StorageError) {
        postings = try store.table(index.postings)
        rows = try store.table(index.rows)
    }

    mutating func change(_ key: [UInt8], from old: TextIndex.Words, to new: TextIndex.Words) {
        guard old != new else { return }
        let row = TextIndex.row(of: key.rawSpan)
        for word in old.counts.keys where new.counts[word] == nil { add(Edit(row: row), to: word) }
        for (word, times) in new.counts {
            add(Edit(row: row, posting: Posting(row: row, count: times, length: new.length)), to: word)
        }
        growth.rows += (new.length > 0 ? 1 : 0) - (old.length > 0 ? 1 : 0)
        growth.words += Int(new.length) - Int(old.length)
        if (old.length > 0) != (new.length > 0) { keys.append((row, new.length > 0 ? key : nil)) }
    }

    private mutating func add(_ edit: Edit, to word: [UInt8]) {
        edits[word, default: []].append(edit)
        count += 1
    }

    mutating func write(to transaction: inout WriteTransaction) throws(StorageError) {
        for (row, key) in keys.sorted(by: { $0.row < $1.row }) {
            let name = bigEndian(row)
            if let key {
                try transaction.put(rows, key: name.rawSpan, value: key.rawSpan)
            } else {
                try transaction.delete(rows, key: name.rawSpan)
            }
        }
        for word in edits.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try write(word, edits[word, default: []].sorted { $0.row < $1.row }, to: &transaction)
        }
        edits.removeAll(keepingCapacity: true)
        keys.removeAll(keepingCapacity: true)
        (count, growth) = (0, (0, 0))
    }

    private func write(_ word: [UInt8], _ edits: [Edit], to transaction: inout WriteTransaction) throws(StorageError) {
        var place = 0
        while place < edits.count {
            let list = try list(of: word, around: edits[place].row, transaction)
            let end = edits[place...].firstIndex { $0.row >= list.end } ?? edits.count
            if let key = list.key { try transaction.delete(postings, key: key.rawSpan) }
            for (first, bytes) in PostingList.encode(Self.merge(list.postings, edits[place..<max(end, place + 1)])) {
                try transaction.put(postings, key: Self.key(word, first).rawSpan, value: bytes.rawSpan)
            }
            place = max(end, place + 1)
        }
    }

    /// The list that a row belongs to: the last one that begins at it or before it, else the first one of the word, else a new one; and where
    /// the next list begins.
    private func list(
        of word: [UInt8], around row: UInt64, _ transaction: borrowing WriteTransaction
    ) throws(StorageError) -> (key: [UInt8]?, postings: [Posting], end: UInt64) {
        let wanted = Self.key(word, row)
        var cursor = try transaction.cursor(postings)
        var first: UInt64?
        if try cursor.seek(atOrBefore: wanted.rawSpan) { first = Self.first(cursor.key, of: word) }
        if first == nil, try cursor.seek(atOrAfter: wanted.rawSpan) { first = Self.first(cursor.key, of: word) }
        guard let first else { return (nil, [], .max) }
        let found = PostingList.decode(cursor.value, after: first) ?? []
        let isLast = try !cursor.next()
        let next = isLast ? nil : Self.first(cursor.key, of: word)
        return (Self.key(word, first), found, next ?? .max)
    }

    private static func merge(_ postings: [Posting], _ edits: ArraySlice<Edit>) -> [Posting] {
        var merged: [Posting] = []
        merged.reserveCapacity(postings.count + edits.count)
        var place = 0
        for edit in edits {
            while place < postings.count, postings[place].row < edit.row {
                merged.append(postings[place])
                place += 1
            }
            if place < postings.count, postings[place].row == edit.row { place += 1 }
            if let posting = edit.posting { merged.append(posting) }
        }
        merged += postings[place...]
        return merged
    }

    static func key(_ word: [UInt8], _ first: UInt64) -> [UInt8] { word + [0] + bigEndian(first) }

    /// The first row of a list, nil where it is another word's.
    static func first(_ key: RawSpan, of word: [UInt8]) -> UInt64? {
        guard key.byteCount == word.count + 9, key.byte(at: word.count) == 0 else { return nil }
        for place in word.indices where key.byte(at: place) != word[place] { return nil }
        return key.bigEndianUInt64(at: word.count + 1)
    }
}
