/// A table of rows with its indexes. Each index is a table of its own beside it: an entry's key is what the index is about, of a fixed length, with
/// the row's key behind it; entries have no value.
///
/// Indexes follow from the rows: they are no part of a view's digest, of its recipe or of its baselines, and are built anew where the declared
/// ones are not those that the file has.
public struct IndexedTable: Sendable {
    /// What the names of indexes' tables begin with.
    static let prefix = "index."

    /// Bytes that an entry has in common with its row's key.
    public struct KeyRun: Sendable, Hashable, BitwiseCopyable {
        /// Where they begin in the entry and in the row's key, and how many they are.
        public let entry: Int
        public let key: Int
        public let count: Int
        /// Whether the entry has their complement, so that it sorts the other way round.
        public let isInverted: Bool

        public init(entry: Int, key: Int, count: Int, isInverted: Bool) {
            self.entry = entry
            self.key = key
            self.count = count
            self.isInverted = isInverted
        }
    }

    /// One index of the table.
    public struct Index: Sendable, Hashable {
        public let name: String
        /// In bytes: how long the key of each entry is, at most 511.
        public let entryLength: Int
        /// What entries have of their row's key, in the order of the entry.
        public let runs: [KeyRun]

        /// Whether an entry says no more than its row's key.
        var followsFromKey: Bool { runs.reduce(0) { $0 + $1.count } == entryLength }

        /// The table that holds its entries.
        public var table: String { IndexedTable.prefix + name }

        public init(name: String, entryLength: Int, runs: [KeyRun] = []) {
            precondition(
                (1...511).contains(entryLength), "an entry of the index \(name) has \(entryLength) bytes; 1 to 511 are possible")
            self.name = name
            self.entryLength = entryLength
            self.runs = runs
        }
    }

    public let table: String
    /// In bytes: what has a key of another length is no row.
    public let keyLength: Int
    public let indexes: [Index]
    /// Texts of the rows that are found by their words.
    public let texts: [TextIndex]
    /// Changes whenever the same rows would give other entries.
    public let fingerprint: String
    let appendEntries: @Sendable (RawSpan, RawSpan, inout [UInt8]) -> Bool

    /// Whether all entries follow from the rows' keys, so that no row is read for them.
    var followsFromKeys: Bool { indexes.allSatisfy(\.followsFromKey) }

    /// All tables that hold entries.
    var tables: [String] { indexes.map(\.table) + texts.flatMap(\.tables) }

    /// - Parameter appendEntries: appends the entries of a row, given by its key and value, in the order of the indexes; false where the row
    ///   cannot be read.
    public init(
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
