/// A table of rows with its indexes. Each index is a table of its own beside it: an entry's key is what the index is about, of a fixed length, with
/// the row's key behind it; entries have no value.
///
/// Indexes follow from the rows: they are no part of a view's digest, of its recipe or of its baselines, and are built anew where the declared
/// ones are not those that the file has.
public struct IndexedTable: Sendable {
    /// What the names of indexes' tables begin with.
    static let prefix = "index."

    /// One index of the table.
    public struct Index: Sendable, Hashable {
        public let name: String
        /// In bytes: how long the key of each entry is, at most 511.
        public let entryLength: Int

        /// The table that holds its entries.
        public var table: String { IndexedTable.prefix + name }

        public init(name: String, entryLength: Int) {
            precondition(
                (1...511).contains(entryLength), "an entry of the index \(name) has \(entryLength) bytes; 1 to 511 are possible")
            self.name = name
            self.entryLength = entryLength
        }
    }

    public let table: String
    public let indexes: [Index]
    /// Texts of the rows that are found by their words.
    public let texts: [TextIndex]
    /// Changes whenever the same rows would give other entries.
    public let fingerprint: String
    let appendEntries: @Sendable (RawSpan, RawSpan, inout [UInt8]) -> Bool

    /// All tables that hold entries.
    var tables: [String] { indexes.map(\.table) + texts.flatMap(\.tables) }

    /// - Parameter appendEntries: appends the entries of a row, given by its key and value, in the order of the indexes; false where the row
    ///   cannot be read.
    public init(
        table: String, indexes: [Index], texts: [TextIndex] = [], fingerprint: String,
        appendEntries: @escaping @Sendable (RawSpan, RawSpan, inout [UInt8]) -> Bool
    ) {
        self.table = table
        self.indexes = indexes
        self.texts = texts
        self.fingerprint = fingerprint
        self.appendEntries = appendEntries
    }
}
