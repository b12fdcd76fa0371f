import EventLog
package import LMDB
import ProtobufWire

/// The file of one view built by one recipe: its rows, its checkpoint, its quarantine, and the sequential stage's state
/// as of the checkpoint. It is disposable: it can always be rebuilt from the log.
package final class ViewStore: Sendable {
    package let environment: Environment
    package let recipe: Recipe
    package let path: String

    /// The most quarantined events that a view lists; older ones are only counted.
    package static let quarantineCap = 10_000

    /// Tables that a file may have for indexes: declared ones, and those of earlier versions.
    static let mostIndexes = 64

    /// Address space for a view, in bytes: capped views stay far below, and a process may have many views open.
    static let reservation = 1 << 36

    package enum Name {
        static let meta = "meta"
        static let quarantine = "quarantine"
        /// Packets: what versions before 0.2 remembered of them is in `formerRecords`, which baselines may have.
        package static let records = "carry.packets"
        package static let receptions = "carry.receptions"
        static let formerRecords = "carry.records"
        package static let entries = "carry.entries"
        static let carried = [records, receptions, formerRecords]
        package static let all = [meta, quarantine, entries] + carried
        package static let changes = "changes"
        package static let marks = "changes.marks"
        /// The tables that each view can have.
        package static let common = all + [changes, marks]
    }

    /// The declared indexes that a writer keeps; the file may lack them or have others: see `isIndexed`.
    package let indexes: [IndexedTable]
    /// Those that the file has.
    private let indexTables: Set<String>

    private init(
        environment: Environment, recipe: Recipe, path: String, indexes: [IndexedTable], indexTables: Set<String>
    ) {
        self.environment = environment
        self.recipe = recipe
        self.path = path
        self.indexes = indexes
        self.indexTables = indexTables
    }

    private func emptyUndeclaredIndexes() throws(StorageError) {
        let meta = try environment.table(Name.meta)
        for name in try environment.tableNames() where name.hasPrefix(IndexedTable.prefix) && !indexTables.contains(name) {
            try Self.empty(environment.table(name), noted: meta, environment)
        }
    }

    /// Empties an index that is no longer declared, and removes its note: declaring it again rebuilds it.
    private static func empty(_ index: RawTable, noted meta: RawTable, _ environment: Environment) throws(StorageError) {
        guard try environment.beginRead().count(index) > 0 else { return }
        try environment.write { (transaction) throws(StorageError) in
            try transaction.removeAll(index)
            let prefix = Array(IndexedTable.prefix.utf8)
            while let note = try transaction.firstKey(of: meta, atOrAfter: prefix), note.starts(with: prefix) {
                try transaction.delete(meta, key: note.rawSpan)
            }
        }
    }

    /// Whether the tables of all its indexes exist.
    func hasTables(of indexed: IndexedTable) -> Bool { indexed.tables.allSatisfy(indexTables.contains) }

    /// Opens the store, and creates it if it is missing and may be written.
    ///
    /// - Parameters:
    ///   - tables: the projection's own tables.
    ///   - indexes: of its rows, for a writer. Indexes in the file that are no longer declared are emptied.
    ///   - excludesWriters: the promise that no process writes meanwhile, see `EnvironmentOptions`.
    /// - Throws: `StorageError`; `.otherVersion` if the file belongs to another recipe than its folder's name states.
    package static func open(
        at path: String, recipe: Recipe, tables: [String], indexes: @autoclosure () -> [IndexedTable] = [],
        access: EnvironmentOptions.Access, sizeLimit: Int? = nil, excludesWriters: Bool = false
    ) throws(StorageError) -> ViewStore {
        var options = EnvironmentOptions(
            access: access, durability: .withoutMetaSync, sizeLimit: sizeLimit ?? Self.reservation,
            maximumTables: Name.all.count + 2 + tables.count + mostIndexes)
        (options.excludesWriters, options.isSharedLikeFolder) = (excludesWriters, true)
        let environment = try Environment.open(path, options)
        let (required, others) = (
            [Name.meta, Name.quarantine, Name.entries], Name.carried + tables + [Name.changes, Name.marks]
        )
        guard access == .readWrite else {
            // Older views lack some of them, and a reader cannot create one.
            let there = Set(try environment.tableNames())
            let indexTables = there.filter { $0.hasPrefix(IndexedTable.prefix) }
            try environment.openTables(required + others.filter(there.contains) + indexTables)
            return ViewStore(environment: environment, recipe: recipe, path: path, indexes: [], indexTables: indexTables)
        }
        let indexes = indexes()
        let indexTables = indexes.flatMap(\.tables)
        try environment.openTables(required + others + indexTables)
        let store = ViewStore(
            environment: environment, recipe: recipe, path: path, indexes: indexes, indexTables: Set(indexTables))
        try store.emptyUndeclaredIndexes()
        try store.noteRecipe()
        return store
    }

    /// A table of this store. Opened with the store, so asking is cheap and allowed within transactions.
    /// - Throws: `.noSuchTable` for one that its view has not declared, since an erasure would not know what to remove from it.
    package func table(_ name: String) throws(StorageError) -> RawTable { try environment.table(name, create: false) }

    package func close() { environment.close() }

    /// Closes it for its successor: readers that come too late get an error that says so.
    package func supersede() { environment.close(refusing: .superseded) }

    // MARK: Meta

    private static let checkpointKey = Array("checkpoint".utf8)
    private static let quarantinedKey = Array("quarantined".utf8)
    private static let oldestRecordKey = Array("carry.oldest".utf8)
    private static let oldestReceptionKey = Array("carry.oldest.reception".utf8)
    static let recipeKey = Array("recipe".utf8)

    private func noteRecipe() throws(StorageError) {
        let meta = try table(Name.meta)
        let identifier = Array(recipe.identifier.utf8)
        let known = try environment.read { (transaction) throws(StorageError) in
            try transaction.get(meta, Self.recipeKey.rawSpan)?.asArray
        }
        if let known {
            guard known == identifier else { throw StorageError(.otherVersion, call: "open view", path: path) }
            return
        }
        try environment.write { (transaction) throws(StorageError) in
            try transaction.put(meta, key: Self.recipeKey.rawSpan, value: identifier.rawSpan)
        }
    }

    package func checkpoint() throws(StorageError) -> Checkpoint {
        try checkpoint(in: environment.beginRead())
    }

    package func checkpoint<Transaction: TransactionReading & ~Copyable>(
        in transaction: borrowing Transaction
    ) throws(StorageError) -> Checkpoint {
        guard let value = try transaction.get(table(Name.meta), Self.checkpointKey.rawSpan), value.byteCount == 16 else {
            return .start
        }
        return Checkpoint(sequence: value.bigEndianUInt64(at: 0), checksum: value.bigEndianUInt64(at: 8))
    }

    func setCheckpoint(_ checkpoint: Checkpoint, in transaction: inout WriteTransaction) throws(StorageError) {
        let value = bigEndian(checkpoint.sequence) + bigEndian(checkpoint.checksum)
        try transaction.put(table(Name.meta), key: Self.checkpointKey.rawSpan, value: value.rawSpan)
    }

    func number<Transaction: TransactionReading & ~Copyable>(
        _ key: [UInt8], in transaction: borrowing Transaction
    ) throws(StorageError) -> UInt64 {
        try transaction.get(table(Name.meta), key.rawSpan)?.bigEndianUInt64(at: 0) ?? 0
    }

    // MARK: Quarantine

    /// How many events this view ever put into quarantine, listed or not.
    package func quarantinedCount() throws(StorageError) -> UInt64 {
        try number(Self.quarantinedKey, in: environment.beginRead())
    }

    /// The newest quarantined events first.
    package func quarantined(limit: Int = .max, offset: Int = 0) throws(StorageError) -> [Quarantined] {
        var found: [Quarantined] = []
        var skipped = 0
        let transaction = try environment.beginRead()
        var cursor = try transaction.cursor(table(Name.quarantine))
        while found.count < limit, try cursor.previous() {
            if skipped < offset {
                skipped += 1
                continue
            }
            found.append(
                Quarantined(
                    sequence: EventSequence(rawValue: cursor.key.bigEndianUInt64(at: 0)),
                    reason: cursor.value.asRepairedString))
        }
        return found
    }

    func add(_ quarantined: [Quarantined], to transaction: inout WriteTransaction) throws(StorageError) {
        guard !quarantined.isEmpty else { return }
        let table = try table(Name.quarantine)
        for event in quarantined.suffix(Self.quarantineCap) {
            let reason = Array(event.reason.utf8.prefix(1_000))
            try transaction.put(table, key: bigEndian(event.sequence.rawValue).rawSpan, value: reason.rawSpan)
        }
        let total = try number(Self.quarantinedKey, in: transaction) + UInt64(quarantined.count)
        try transaction.put(self.table(Name.meta), key: Self.quarantinedKey.rawSpan, value: bigEndian(total).rawSpan)
        var excess = try transaction.count(table) - Self.quarantineCap
        while excess > 0, let oldest = try transaction.firstKey(of: table, atOrAfter: []) {
            try transaction.delete(table, key: oldest.rawSpan)
            excess -= 1
        }
    }

    // MARK: StageState

    /// The sequential stage's state as of the checkpoint.
    package func stageState() throws(StorageError) -> StageState {
        var stageState = StageState()
        let transaction = try environment.beginRead()
        stageState.oldestRecord = try number(Self.oldestRecordKey, in: transaction)
        stageState.oldestReception = try number(Self.oldestReceptionKey, in: transaction)
        let former: [FormerStageStateRecord] = try records(Name.formerRecords, from: stageState.oldestRecord, transaction)
        stageState.records = try former.map(\.asRecord) + records(Name.records, from: stageState.oldestRecord, transaction)
        stageState.receptions = try records(Name.receptions, from: stageState.oldestReception, transaction)
        var entries = try transaction.cursor(table(Name.entries))
        while try entries.next() {
            stageState.entries.append(StageState.Entry(sequence: 0, key: entries.key.asArray, value: entries.value.asArray))
        }
        return stageState
    }

    /// Adds what the stage has recorded since the last commit, and removes what it has dropped.
    func add(_ stageState: PendingStageState, to transaction: inout WriteTransaction) throws(StorageError) {
        let entries = try table(Name.entries)
        for entry in stageState.entries {
            try transaction.put(entries, key: entry.key.rawSpan, value: entry.value.rawSpan)
        }
        let meta = try table(Name.meta)
        let oldest = stageState.records.oldest
        try transaction.put(meta, key: Self.oldestRecordKey.rawSpan, value: bigEndian(oldest).rawSpan)
        try transaction.put(meta, key: Self.oldestReceptionKey.rawSpan, value: bigEndian(stageState.receptions.oldest).rawSpan)
        try add(stageState.records, to: Name.records, &transaction)
        try add(stageState.receptions, to: Name.receptions, &transaction)
        try StageStateChunk.remove(FormerStageStateRecord.self, below: oldest, from: table(Name.formerRecords), in: &transaction)
    }

    private func add<Record: StoredStageStateRecord>(
        _ records: PendingRuns<Record>, to name: String, _ transaction: inout WriteTransaction
    ) throws(StorageError) {
        let table = try table(name)
        try StageStateChunk.append(records, to: table, in: &transaction)
        try StageStateChunk.remove(Record.self, below: records.oldest, from: table, in: &transaction)
    }

    private func records<Record: StoredStageStateRecord>(
        _ name: String, from oldest: UInt64, _ transaction: borrowing ReadTransaction
    ) throws(StorageError) -> [Record] {
        var records: [Record] = []
        let stored: RawTable
        do throws(StorageError) {
            stored = try table(name)
        } catch {
            guard error.code == .noSuchTable else { throw error }
            return []  // a view of an earlier version that may only be read
        }
        var cursor = try transaction.cursor(stored)
        while try cursor.next() { StageStateChunk.read(cursor.value, into: &records) }
        records.removeAll { $0.sequence < oldest }
        return records
    }
}

extension WriteTransaction {
    /// A copy of the first key that is `key` or comes after it.
    package func firstKey(of table: RawTable, atOrAfter key: [UInt8]) throws(StorageError) -> [UInt8]? {
        var cursor = try cursor(table)
        let isThere = key.isEmpty ? try cursor.first() : try cursor.seek(atOrAfter: key.rawSpan)
        return isThere ? cursor.key.asArray : nil
    }
}
