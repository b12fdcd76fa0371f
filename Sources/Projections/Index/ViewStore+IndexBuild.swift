package import LMDB
import ProtobufWire

/// Indexes built from all rows. They are used only once a note with the checkpoint that they match is written.
extension ViewStore {
    /// The bytes that sorting takes per entry, in addition to the entry.
    private static let sortOverhead = 36
    /// How many entries per pass are sampled to find the bounds of the passes.
    private static let samplesOfPass = 256

    /// Builds the indexes that are missing, or differ from the declared ones, from the rows as they are.
    ///
    /// - Parameter sortLimit: the bytes that entries may take at once.
    package func buildMissingIndexes(sortLimit: Int = 32 << 20) throws(StorageError) {
        let missing = try indexUpkeep().built
        guard !missing.isEmpty else { return }
        let checkpoint = try checkpoint()
        for indexed in missing { try build(indexed, checkpoint, sortLimit) }
        FreedMemory.giveBack()
    }

    private func build(_ indexed: IndexedTable, _ checkpoint: Checkpoint, _ sortLimit: Int) throws(StorageError) {
        let rows = try table(indexed.table)
        let count = try environment.beginRead().count(rows)
        let words = indexed.texts.map { text in
            WorkBeside { Result { () throws(StorageError) in try self.gather(text, sortLimit: sortLimit) } }
        }
        defer { for words in words { words.drop() } }
        let size = indexed.indexes.reduce(0) { $0 + $1.entryLength + Self.sortOverhead } * count
        // Larger indexes are built in several passes over the rows.
        guard size > sortLimit else {
            return try environment.write { (transaction) throws(StorageError) in
                try buildAtOnce(indexed, count, in: &transaction)
                try finish(indexed, words, checkpoint, in: &transaction)
            }
        }
        for (place, index) in indexed.indexes.enumerated() {
            let passes = (index.entryLength + Self.sortOverhead) * count / max(sortLimit, 1) + 1
            try build(place, of: indexed, count, bounds: bounds(of: place, of: indexed, count, passes))
        }
        try environment.write { (transaction) throws(StorageError) in try finish(indexed, words, checkpoint, in: &transaction) }
    }

    private func finish(
        _ indexed: IndexedTable, _ words: [WorkBeside<GatheredWords, StorageError>], _ checkpoint: Checkpoint,
        in transaction: inout WriteTransaction
    ) throws(StorageError) {
        for (text, words) in zip(indexed.texts, words) { try build(text, words.result().get(), in: &transaction) }
        try note(indexed, checkpoint, in: &transaction)
    }

    // MARK: At once

    private func buildAtOnce(
        _ indexed: IndexedTable, _ count: Int, in transaction: inout WriteTransaction
    ) throws(StorageError) {
        var lists = indexed.indexes.map { EntryList(length: $0.entryLength, runs: $0.runs) }
        for place in lists.indices { lists[place].reserveCapacity(count) }
        try Self.gather(indexed, table(indexed.table), transaction, &lists)
        for (index, list) in zip(indexed.indexes, lists) {
            var list = list
            list.sort()
            let table = try table(index.table)
            try transaction.removeAll(table)
            try Self.put(list, .append, into: table, of: &transaction)
        }
    }

    private static func gather(
        _ indexed: IndexedTable, _ rows: RawTable, _ transaction: borrowing WriteTransaction, _ lists: inout [EntryList]
    ) throws(StorageError) {
        var entries: [UInt8] = []
        var cursor = try transaction.cursor(rows)
        if indexed.followsFromKeys {
            while try cursor.next() {
                guard cursor.key.byteCount == indexed.keyLength else { continue }
                for place in lists.indices { lists[place].append(of: cursor.key) }
            }
            return
        }
        while try cursor.next() {
            entries.removeAll(keepingCapacity: true)
            guard indexed.appendEntries(cursor.key, cursor.value, &entries) else { continue }
            var start = 0
            for place in lists.indices {
                let end = start + lists[place].length
                lists[place].append(entries.rawSpan.extracting(start..<end))
                start = end
            }
        }
    }

    // MARK: In passes

    /// Builds one index, with one transaction for the entries between two bounds each.
    private func build(
        _ place: Int, of indexed: IndexedTable, _ count: Int, bounds: [[UInt8]]
    ) throws(StorageError) {
        let (rows, index) = (try table(indexed.table), indexed.indexes[place])
        let table = try table(index.table)
        for pass in 0...bounds.count {
            let first = pass == 0 ? nil : bounds[pass - 1]
            let end = pass == bounds.count ? nil : bounds[pass]
            try environment.write { (transaction) throws(StorageError) in
                if pass == 0 { try transaction.removeAll(table) }
                var list = EntryList(length: index.entryLength)
                list.reserveCapacity(count / (bounds.count + 1))
                var cursor = try transaction.cursor(rows)
                var entries = RowEntries(of: place, indexed)
                while try cursor.next() {
                    guard entries.make(cursor.key, cursor.value) else { continue }
                    let entry = entries.entry.rawSpan
                    if let first, entry.compared(to: first.rawSpan) < 0 { continue }
                    if let end, entry.compared(to: end.rawSpan) >= 0 { continue }
                    list.append(entry)
                }
                list.sort()
                try Self.put(list, .append, into: table, of: &transaction)
            }
        }
    }

    /// Entries that divide all of them into parts of about equal size, found by sampling.
    private func bounds(
        of place: Int, of indexed: IndexedTable, _ count: Int, _ parts: Int
    ) throws(StorageError) -> [[UInt8]] {
        let step = max(1, count / (parts * Self.samplesOfPass))
        let transaction = try environment.beginRead()
        var cursor = try transaction.cursor(table(indexed.table))
        var entries = RowEntries(of: place, indexed)
        var samples: [[UInt8]] = []
        var row = 0
        while try cursor.next() {
            row += 1
            if row.isMultiple(of: step), entries.make(cursor.key, cursor.value) { samples.append(entries.entry) }
        }
        samples.sort { $0.rawSpan.compared(to: $1.rawSpan) < 0 }
        var bounds: [[UInt8]] = []
        for part in 1..<max(parts, 1) where !samples.isEmpty {
            let bound = samples[samples.count * part / parts]
            if bound != bounds.last { bounds.append(bound) }
        }
        return bounds
    }
}

/// Makes the entries of one index of a table.
private struct RowEntries {
    private let indexed: IndexedTable
    private let range: Range<Int>
    private let runs: [IndexedTable.KeyRun]?
    private var all: [UInt8] = []
    private(set) var entry: [UInt8] = []

    init(of place: Int, _ indexed: IndexedTable) {
        self.indexed = indexed
        let start = indexed.indexes[..<place].reduce(0) { $0 + $1.entryLength }
        range = start..<start + indexed.indexes[place].entryLength
        runs = indexed.indexes[place].followsFromKey ? indexed.indexes[place].runs : nil
    }

    /// - Returns: false if the row cannot be read.
    mutating func make(_ key: RawSpan, _ value: RawSpan) -> Bool {
        entry.removeAll(keepingCapacity: true)
        if let runs {
            guard key.byteCount == indexed.keyLength else { return false }
            for run in runs {
                for place in run.key..<run.key + run.count {
                    entry.append(run.isInverted ? ~key.byte(at: place) : key.byte(at: place))
                }
            }
            return true
        }
        all.removeAll(keepingCapacity: true)
        guard indexed.appendEntries(key, value, &all) else { return false }
        entry += all[range]
        return true
    }
}
