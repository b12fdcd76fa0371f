package import LMDB
import ProtobufWire

/// The indexes of a view's rows. Under `index.TABLE` the view's meta table has the checkpoint and the declared indexes that the entries
/// match: entries of another checkpoint (written by a program without indexes) or of other declarations are not used.
extension ViewStore {
    /// What the next commit has to do with the indexes of each table.
    struct IndexUpkeep {
        /// Their entries are updated for the changed rows.
        var updated: [IndexedTable] = []
        /// Their entries are built from all rows.
        var built: [IndexedTable] = []
    }

    /// Whether the entries of a table's indexes match its rows.
    package func isIndexed<Transaction: TransactionReading & ~Copyable>(
        _ indexed: IndexedTable, in transaction: borrowing Transaction
    ) throws(StorageError) -> Bool {
        guard hasTables(of: indexed) else { return false }
        guard let note = try transaction.get(table(Name.meta), Self.noteKey(indexed).rawSpan) else { return false }
        return note.asArray == Self.note(indexed, try checkpoint(in: transaction))
    }

    private static func noteKey(_ indexed: IndexedTable) -> [UInt8] { Array("index.\(indexed.table)".utf8) }

    private static func note(_ indexed: IndexedTable, _ checkpoint: Checkpoint) -> [UInt8] {
        bigEndian(checkpoint.sequence) + bigEndian(checkpoint.checksum) + Array(indexed.fingerprint.utf8)
    }

    // MARK: Upkeep

    /// Fewer changed rows are quickly indexed, and no query has to do without an index meanwhile.
    package static let leastLeftToBuild = 8_192

    func indexUpkeep() throws(StorageError) -> IndexUpkeep {
        var upkeep = IndexUpkeep()
        guard !indexes.isEmpty else { return upkeep }
        let transaction = try environment.beginRead()
        for indexed in indexes {
            if try isIndexed(indexed, in: transaction) { upkeep.updated.append(indexed) } else { upkeep.built.append(indexed) }
        }
        return upkeep
    }

    /// The approximate number of entries that `buildMissingIndexes` would make from the existing rows and this many more.
    func missingEntries(besides rows: Int) throws(StorageError) -> Int {
        let missing = try indexUpkeep().built
        guard !missing.isEmpty else { return 0 }
        let transaction = try environment.beginRead()
        var count = 0
        for indexed in missing {
            // A text has several words, and a part for each character, which have to be extracted first.
            let ofTexts = indexed.texts.reduce(0) { $0 + ($1.storesFrequencies ? 8 : 40) }
            count += try (transaction.count(table(indexed.table)) + rows) * (indexed.indexes.count + ofTexts)
        }
        return count
    }

    /// Updates the indexes for the rows that the transaction has changed. Those of a table of which most rows have changed are left to `buildMissingIndexes`,
    /// which takes a fraction of the time.
    ///
    /// - Parameters:
    ///   - changes: the changed rows of all watched tables.
    ///   - checkpoint: the one that is committed with them.
    /// - Returns: whether all indexes match their rows.
    func keep(
        _ upkeep: IndexUpkeep, _ changes: [RowWatch.Change], at checkpoint: Checkpoint, in transaction: inout WriteTransaction
    ) throws(StorageError) -> Bool {
        var areKept = upkeep.built.isEmpty
        guard !upkeep.updated.isEmpty else { return areKept }
        // Rows as of the last commit show which entries are obsolete.
        let before = try environment.beginRead()
        for indexed in upkeep.updated {
            let rows = try table(indexed.table)
            let count = changes.count { $0.table == rows }
            if count >= Self.leastLeftToBuild, try count > transaction.count(rows) / 2 {
                areKept = false
                continue
            }
            try update(indexed, changes, before, in: &transaction)
            try note(indexed, checkpoint, in: &transaction)
        }
        return areKept
    }

    func note(
        _ indexed: IndexedTable, _ checkpoint: Checkpoint, in transaction: inout WriteTransaction
    ) throws(StorageError) {
        let note = Self.note(indexed, checkpoint)
        try transaction.put(table(Name.meta), key: Self.noteKey(indexed).rawSpan, value: note.rawSpan)
    }

    static func put(
        _ list: EntryList, _ mode: PutMode, into table: RawTable, of transaction: inout WriteTransaction
    ) throws(StorageError) {
        let nothing: [UInt8] = []
        var cursor = try transaction.writeCursor(table)
        for place in 0..<list.sortedCount {
            try cursor.put(key: list.bytes.rawSpan.extracting(list.range(place)), value: nothing.rawSpan, mode)
        }
    }

    private func update(
        _ indexed: IndexedTable, _ changes: [RowWatch.Change], _ before: borrowing ReadTransaction,
        in transaction: inout WriteTransaction
    ) throws(StorageError) {
        let rows = try table(indexed.table)
        var keys = EntryKeys(changes.lazy.filter { $0.table == rows }.map(\.key))
        for text in indexed.texts { try update(text, keys, before, in: &transaction) }
        var (removed, added) = (indexed.indexes.map { EntryList(length: $0.entryLength) }, [EntryList]())
        added = removed
        var (old, new): ([UInt8], [UInt8]) = ([], [])
        while let key = keys.next() {
            old.removeAll(keepingCapacity: true)
            new.removeAll(keepingCapacity: true)
            if let value = try before.get(rows, key.rawSpan), !indexed.appendEntries(key.rawSpan, value, &old) { old = [] }
            if let value = try transaction.get(rows, key.rawSpan), !indexed.appendEntries(key.rawSpan, value, &new) { new = [] }
            var start = 0
            for (place, index) in indexed.indexes.enumerated() {
                let end = start + index.entryLength
                let (was, now) = (old.isEmpty ? [] : old[start..<end], new.isEmpty ? [] : new[start..<end])
                start = end
                guard was != now else { continue }
                if !was.isEmpty { removed[place].append(was) }
                if !now.isEmpty { added[place].append(now) }
            }
        }
        for (place, index) in indexed.indexes.enumerated() {
            let table = try table(index.table)
            removed[place].sort()
            added[place].sort()
            let gone = removed[place]
            for place in 0..<gone.sortedCount {
                try transaction.delete(table, key: gone.bytes.rawSpan.extracting(gone.range(place)))
            }
            try Self.put(added[place], .replace, into: table, of: &transaction)
        }
    }

    // MARK: Checking

    /// What is wrong with a table's indexes, compared with entries newly derived from its rows; nil if nothing is, or if they are not built.
    package func fault(of indexed: IndexedTable) throws(StorageError) -> String? {
        let transaction = try environment.beginRead()
        guard try isIndexed(indexed, in: transaction) else { return nil }
        var rows = try transaction.cursor(table(indexed.table))
        var wanted = indexed.indexes.map { _ in Set<[UInt8]>() }
        var entries: [UInt8] = []
        while try rows.next() {
            entries.removeAll(keepingCapacity: true)
            guard indexed.appendEntries(rows.key, rows.value, &entries) else { continue }
            var start = 0
            for (place, index) in indexed.indexes.enumerated() {
                wanted[place].insert(Array(entries[start..<start + index.entryLength]))
                start += index.entryLength
            }
        }
        for (place, index) in indexed.indexes.enumerated() {
            var cursor = try transaction.cursor(table(index.table))
            var count = 0
            while try cursor.next() {
                guard wanted[place].contains(cursor.key.asArray) else {
                    return "the index \(index.name) has an entry without a row of \(indexed.table)"
                }
                count += 1
            }
            guard count == wanted[place].count else {
                return
                    "the index \(index.name) lacks entries for rows of \(indexed.table): it has \(count) of \(wanted[place].count)"
            }
        }
        for text in indexed.texts {
            if let fault = try fault(of: text, in: transaction) { return fault }
        }
        return nil
    }
}

/// The keys of changed rows, in order and each once.
struct EntryKeys {
    private let keys: [[UInt8]]
    private var place = 0

    init(_ keys: some Sequence<[UInt8]>) { self.keys = keys.sorted { $0.lexicographicallyPrecedes($1) } }

    mutating func next() -> [UInt8]? {
        while place < keys.count {
            defer { place += 1 }
            if place == 0 || keys[place] != keys[place - 1] { return keys[place] }
        }
        return nil
    }
}
