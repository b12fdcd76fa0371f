/// A table of rows with its indexes. Each index is a separate table: an entry's key is the indexed values, of a fixed length, followed by
/// the row's key; entries have no value.
///
/// Indexes are derived from the rows: they are not part of a view's digest, recipe or baselines, and are rebuilt if the file's indexes
/// differ from the declared ones.
package struct IndexedTable: Sendable {
    /// The prefix of the names of index tables.
    static let prefix = "index."

    /// Bytes that an entry shares with its row's key.
    package struct KeyRun: Sendable, Hashable, BitwiseCopyable {
        /// Where they begin in the entry and in the row's key, and their number.
        package let entry: Int
        package let key: Int
        package let count: Int
        /// Whether the entry has their complement, so that it sorts in reverse.
        package let isInverted: Bool

        package init(entry: Int, key: Int, count: Int, isInverted: Bool) {
            self.entry = entry
            self.key = key
            self.count = count
            self.isInverted = isInverted
        }
    }

    /// One index of the table.
    package struct Index: Sendable, Hashable {
        package let name: String
        /// In bytes: how long the key of each entry is, at most 511.
        package let entryLength: Int
        /// The parts that entries share with their row's key, in the order of the entry.
        package let runs: [KeyRun]

        /// Whether an entry contains only parts of its row's key.
        var followsFromKey: Bool { runs.reduce(0) { $0 + $1.count } == entryLength }

        /// The table that holds its entries.
        package var table: String { IndexedTable.prefix + name }

        package init(name: String, entryLength: Int, runs: [KeyRun] = []) {
            precondition(
                (1...511).contains(entryLength), "an entry of the index \(name) has \(entryLength) bytes; 1 to 511 are possible")
            self.name = name
            self.entryLength = entryLength
            self.runs = runs
        }
    }

    package let table: String
    /// In bytes: an entry of the table with a key of another length is not a row.
    package let keyLength: Int
    package let indexes: [Index]
    /// Texts by whose words rows can be found.
    package let texts: [TextIndex]
    /// Changes whenever the same rows would give different entries.
    package let fingerprint: String
    let appendEntries: @Sendable (RawSpan, RawSpan, inout [UInt8]) -> Bool

    /// Whether all entries follow from the rows' keys, so that rows need not be read for them.
    var followsFromKeys: Bool { indexes.allSatisfy(\.followsFromKey) }

    /// All tables that hold entries.
    var tables: [String] { indexes.map(\.table) + texts.flatMap(\.tables) }

    /// - Parameter appendEntries: appends the entries of a row, given by its key and value, in the order of the indexes; false if the row
    ///   cannot be read.
    package init(
        table: String, keyLength: Int, indexes: [Index], texts: [TextIndex] = [], fingerprint: String,
        appendEntries: @escaping @Sendable (RawSpan, RawSpan, inout [UInt8]) -> Bool
    ) {
        self.table = table
        self.keyLength = keyLength
        self.indexes = indexes
        self.texts = texts
        self.fingerprint = fingerprint
        self.appendEntries = appendEntries
    }
}
