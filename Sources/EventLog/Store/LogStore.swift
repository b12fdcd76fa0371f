package import LMDB

/// The log's environment and its tables, as `FORMAT.md` describes them.
package struct LogStore: Sendable {
    /// Consecutive events that share an entry in the tables of arrival times, salts and hashes.
    package static let tileSize: UInt64 = 256

    private static let tables = [
        "events", "sealed", "arrivals", "salts", "tree", "sources", "cursors", "meta", "origins",
    ]

    package let environment: Environment
    package let events: RawTable
    package let sealed: RawTable
    let arrivals: RawTable
    let salts: RawTable
    let tree: RawTable
    package let sources: RawTable
    package let cursors: RawTable
    package let meta: RawTable
    /// The origins of events that were first appended to another log. Nil in a log that was only written by versions without copies.
    package let origins: RawTable?
    /// Recently opened sealed blocks.
    let blocks: BlockCache

    package init(environment: Environment, blocks: BlockCache = BlockCache(limit: 0)) throws(StorageError) {
        self.environment = environment
        self.blocks = blocks
        if environment.options.access == .readWrite { try environment.openTables(Self.tables) }
        events = try environment.table("events")
        sealed = try environment.table("sealed")
        arrivals = try environment.table("arrivals")
        salts = try environment.table("salts")
        tree = try environment.table("tree")
        sources = try environment.table("sources")
        cursors = try environment.table("cursors")
        meta = try environment.table("meta")
        do throws(StorageError) {
            origins = try environment.table("origins")
        } catch {
            guard error.code == .noSuchTable else { throw error }
            origins = nil
        }
    }

    package func metaNumber(_ name: String, _ read: borrowing ReadTransaction) throws(StorageError) -> UInt64? {
        try read.get(Table<String, UInt64>(raw: meta), name)
    }
}
