import LMDB
import ProtobufWire

/// Changes to a text index, collected row by row and written word by word.
struct PostingsWriter: Sendable {
    private struct Edit: Sendable {
        var word: Int32
        /// Its index in `changed`.
        var row: Int32
        /// How often the row has the word; 0 if it no longer has it.
        var count: UInt32
    }

    private let index: TextIndex
    private let postings: RawTable
    private let rows: RawTable
    private(set) var words = TextIndex.Words()
    private var edits: [Edit] = []
    /// For each word the last edit of it that `add` made.
    private var lastEdits: [Int] = []
    /// The rows of the edits: how many words they have now, and where their edits begin.
    private var changed: [(row: UInt64, length: UInt32, start: Int)] = []
    /// Rows that now have words, with the ranges of their keys in `keyBytes`, and rows that no longer have any, without a range.
    private var keys: [(row: UInt64, key: Range<Int>)] = []
    private var keyBytes: [UInt8] = []
    /// By how much the number of rows that have words, and of their words, changes.
    private(set) var growth = (rows: 0, words: 0)

    /// How many changes are pending.
    var count: Int { edits.count }
    /// In bytes, of the pending changes and of what sorting them takes.
    var pendingBytes: Int { edits.count * 2 * MemoryLayout<Edit>.stride }

    init(_ index: TextIndex, _ store: ViewStore) throws(StorageError) {
        self.index = index
        postings = try store.table(index.postings)
        rows = try store.table(index.rows)
    }

    /// The words of a row; empty if the row does not exist or cannot be read.
    mutating func words(of key: RawSpan, _ value: RawSpan?) -> TextIndex.WordCounts {
        guard let value else { return TextIndex.WordCounts() }
        let isRow = index.addWords(key, value, &words)
        let found = words.take()
        guard isRow else { return TextIndex.WordCounts() }
        return index.storesFrequencies ? found : found.withoutFrequencies
    }

    /// Adds the words of a row that had none.
    mutating func add(_ key: RawSpan, _ value: RawSpan) {
        let (start, place) = (edits.count, Int32(changed.count))
        guard index.addWords(key, value, &words) else { return words.drain { _ in } }
        if lastEdits.count < words.table.count {
            lastEdits += repeatElement(-1, count: words.table.count * 2 - lastEdits.count)
        }
        let storesFrequencies = index.storesFrequencies
        var length: UInt32 = 0
        words.drain { word in
            length &+= 1
            let last = lastEdits[Int(word)]
            if last < start {
                lastEdits[Int(word)] = edits.count
                edits.append(Edit(word: word, row: place, count: 1))
            } else if storesFrequencies {
                edits[last].count &+= 1
            }
        }
        guard length > 0 else { return }
        if !storesFrequencies { length = 1 }
        let row = TextIndex.row(of: key)
        changed.append((row, length, start))
        growth.rows += 1
        growth.words += Int(length)
        if index.keysOf == nil { addKey(key, of: row) }
    }

    private mutating func addKey(_ key: RawSpan, of row: UInt64) {
        let start = keyBytes.count
        unsafe key.withUnsafeBytes { unsafe keyBytes.append(contentsOf: $0) }
        keys.append((row, start..<keyBytes.count))
    }

    mutating func change(_ key: RawSpan, from old: TextIndex.WordCounts, to new: TextIndex.WordCounts) {
        guard old != new else { return }
        let (row, place) = (TextIndex.row(of: key), Int32(changed.count))
        changed.append((row, new.length, edits.count))
        var kept = new.counts[...]
        for gone in old.counts {
            while let next = kept.first, next.word < gone.word { kept.removeFirst() }
            if kept.first?.word == gone.word { continue }
            edits.append(Edit(word: gone.word, row: place, count: 0))
        }
        for count in new.counts { edits.append(Edit(word: count.word, row: place, count: count.times)) }
        growth.rows += (new.length > 0 ? 1 : 0) - (old.length > 0 ? 1 : 0)
        growth.words += Int(new.length) - Int(old.length)
        guard index.keysOf == nil, (old.length > 0) != (new.length > 0) else { return }
        if new.length > 0 { addKey(key, of: row) } else { keys.append((row, 0..<0)) }
    }

    mutating func write(to transaction: inout WriteTransaction) throws(StorageError) {
        try writeKeys(to: &transaction)
        let order = words.table.sorted()
        let (sorted, bounds) = editsByWord(in: order)
        let isNew = try transaction.count(postings) == 0
        var cursor = try transaction.writeCursor(postings)
        var merged = PostingListMerge(storesFrequencies: index.storesFrequencies)
        for (place, word) in order.enumerated() where bounds[place] < bounds[place + 1] {
            let edits = sorted[bounds[place]..<bounds[place + 1]]
            if isNew { try writeNew(word, edits, with: &cursor) } else { try merge(word, edits, &merged, with: &cursor) }
        }
        words = TextIndex.Words()
        edits.removeAll(keepingCapacity: true)
        lastEdits.removeAll(keepingCapacity: true)
        changed.removeAll(keepingCapacity: true)
        keys.removeAll(keepingCapacity: true)
        keyBytes.removeAll(keepingCapacity: true)
        growth = (0, 0)
    }

    private mutating func writeKeys(to transaction: inout WriteTransaction) throws(StorageError) {
        keys.sort { $0.row < $1.row }
        guard try transaction.count(rows) == 0 else {
            for (row, key) in keys {
                let name = bigEndian(row)
                if key.isEmpty {
                    try transaction.delete(rows, key: name.rawSpan)
                } else {
                    try transaction.put(rows, key: name.rawSpan, value: keyBytes.rawSpan.extracting(key))
                }
            }
            return
        }
        var name = [UInt8](repeating: 0, count: 8)
        var last: UInt64?
        var cursor = try transaction.writeCursor(rows)
        for (row, key) in keys where !key.isEmpty {
            store(row, length: 8, into: &name, at: 0)
            let value = keyBytes.rawSpan.extracting(key)
            try cursor.put(key: name.rawSpan, value: value, row == last ? .replace : .append)
            last = row
        }
    }

    /// The changes word by word, in the order given, those of a word in the order of its rows; and where each word's changes begin.
    private func editsByWord(in order: [Int]) -> (edits: [Edit], bounds: [Int]) {
        var rank = [Int](repeating: 0, count: order.count)
        for (place, word) in order.enumerated() { rank[word] = place }
        var bounds = [Int](repeating: 0, count: order.count + 1)
        for edit in edits { bounds[rank[Int(edit.word)] + 1] += 1 }
        for place in order.indices { bounds[place + 1] += bounds[place] }
        var (next, sorted) = (bounds, edits)
        for place in changed.indices.sorted(by: { changed[$0].row < changed[$1].row }) {
            let end = place + 1 < changed.count ? changed[place + 1].start : edits.count
            for edit in edits[changed[place].start..<end] {
                let word = rank[Int(edit.word)]
                sorted[next[word]] = edit
                next[word] += 1
            }
        }
        return (sorted, bounds)
    }

    private func posting(_ edit: Edit) -> Posting {
        let row = changed[Int(edit.row)]
        return Posting(row: row.row, count: edit.count, length: row.length)
    }

    /// Writes the postings of a word that is in no row yet.
    private func writeNew(_ number: Int, _ edits: ArraySlice<Edit>, with cursor: inout WriteCursor) throws(StorageError) {
        let word = Array(words.table[number])
        // Truncated words end in a hash; because of its zeros, their keys may come before those of a word that they begin with.
        let mode = word.count < 64 ? PutMode.append : .replace
        var list = PostingList(storesFrequencies: index.storesFrequencies)
        for edit in edits where edit.count > 0 {
            list.append(posting(edit))
            if list.isFull { try write(&list, of: word, mode, with: &cursor) }
        }
        if !list.isEmpty { try write(&list, of: word, mode, with: &cursor) }
    }

    private func write(
        _ list: inout PostingList, of word: [UInt8], _ mode: PutMode, with cursor: inout WriteCursor
    ) throws(StorageError) {
        try cursor.put(key: Self.key(word, list.first).rawSpan, value: list.bytes.rawSpan, mode)
        list.removeAll()
    }

    /// - Parameter edits: in ascending order of their rows; with a count of 0 if a row no longer has the word.
    private func merge(
        _ number: Int, _ edits: ArraySlice<Edit>, _ merged: inout PostingListMerge, with cursor: inout WriteCursor
    ) throws(StorageError) {
        let word = Array(words.table[number])
        var place = edits.startIndex
        while place < edits.endIndex {
            let (first, end) = try begin(&merged, of: word, around: posting(edits[place]).row, with: &cursor)
            repeat {
                merged.change(posting(edits[place]))
                place += 1
            } while place < edits.endIndex && posting(edits[place]).row < end
            merged.finish()
            try write(merged, of: word, over: first, with: &cursor)
        }
    }

    /// Begins with the list that a row belongs to: the last one that begins at or before it, else the first one of the word, else a new one.
    /// - Returns: the list's first row, if it is stored, and where the next list begins.
    private func begin(
        _ merged: inout PostingListMerge, of word: [UInt8], around row: UInt64, with cursor: inout WriteCursor
    ) throws(StorageError) -> (first: UInt64?, end: UInt64) {
        let wanted = Self.key(word, row)
        var first: UInt64?
        if try cursor.place.seek(atOrBefore: wanted.rawSpan) { first = Self.first(cursor.place.key, of: word) }
        if first == nil, try cursor.place.seek(atOrAfter: wanted.rawSpan) { first = Self.first(cursor.place.key, of: word) }
        guard let first else {
            merged.begin(RawSpan(), after: row)
            return (nil, .max)
        }
        merged.begin(cursor.place.value, after: first)
        guard try cursor.place.next() else { return (first, .max) }
        return (first, Self.first(cursor.place.key, of: word) ?? .max)
    }

    /// - Parameter old: the first row of the list that was changed, if it is stored.
    private func write(
        _ merged: PostingListMerge, of word: [UInt8], over old: UInt64?, with cursor: inout WriteCursor
    ) throws(StorageError) {
        let isSplit = merged.bytes.count > PostingList.longest
        let added = isSplit ? merged.added() : nil
        if let old, added == nil, isSplit || merged.bytes.isEmpty || merged.first != old {
            if try cursor.place.seek(exactly: Self.key(word, old).rawSpan) { try cursor.delete() }
        }
        guard isSplit else {
            guard !merged.bytes.isEmpty else { return }
            return try cursor.put(key: Self.key(word, merged.first).rawSpan, value: merged.bytes.rawSpan)
        }
        // New postings after a full list begin another one; else the list is divided evenly, so that its parts have room.
        let (postings, parts) = added.map { ($0, 1) } ?? (merged.postings(), 1 + merged.bytes.count / PostingList.longest)
        let most = postings.count / parts + 1
        var list = PostingList(storesFrequencies: index.storesFrequencies)
        for (place, posting) in postings.enumerated() {
            list.append(posting)
            if list.isFull || (place + 1) % most == 0 { try write(&list, of: word, .replace, with: &cursor) }
        }
        if !list.isEmpty { try write(&list, of: word, .replace, with: &cursor) }
    }

    static func key(_ word: [UInt8], _ first: UInt64) -> [UInt8] { word + [0] + bigEndian(first) }

    /// The first row of a list, nil if it is another word's.
    static func first(_ key: RawSpan, of word: [UInt8]) -> UInt64? {
        guard key.byteCount == word.count + 9, key.byte(at: word.count) == 0 else { return nil }
        for place in word.indices where key.byte(at: place) != word[place] { return nil }
        return key.bigEndianUInt64(at: word.count + 1)
    }
}
