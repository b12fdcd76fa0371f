import Dispatch
import EventLog
import LMDB
import MeshViews
public import Projections
import Synchronization

/// The state of a view.
public struct ViewStatus: Sendable {
    public var name: String
    /// The recipe that is served now, and the one that the current code and keys require.
    public var servedRecipe: String?
    public var wantedRecipe: String
    /// The last event in the committed view.
    public var checkpoint: UInt64
    /// Rows by table.
    public var rows: [String: Int]
    public var quarantined: UInt64
    /// Bytes of the view's file.
    public var size: Int
    /// The older recipes that built rows of events that retention has dropped.
    public var origins = RowOrigins()
    /// The last event that retention had dropped before the view could fold it, 0 if it missed none.
    public var lost: UInt64 = 0
    /// How far its successor is built, 0 to 1; nil if none is being built.
    public var building: Double?

    /// Whether it was built before the last erasure, from events that were since erased.
    public var holdsErased = false

    /// Whether a user went back to an older recipe, which is served unchanged until the view is rebuilt.
    public var isPinned = false

    public var isStale: Bool { !isPinned && isOfOtherRecipe }

    private var isOfOtherRecipe: Bool { holdsErased || servedRecipe.map { $0.prefix { $0 != "." } != wantedRecipe } ?? true }
}

/// An event that a view put into quarantine.
public struct QuarantineRow: Sendable {
    public var view: String
    public var sequence: UInt64
    public var reason: String
}

extension Ledger.Maintenance {
    /// The state of all views.
    /// - Throws: errors of the views' files.
    public func views() async throws(LedgerError) -> [ViewStatus] {
        var all: [ViewStatus] = []
        let holdsErased = try viewsHoldErased()
        for definition in ledger.definitions {
            var status = ViewStatus(
                name: definition.name, servedRecipe: ledger.served.folder(definition.name).current(),
                wantedRecipe: definition.recipe.identifier, checkpoint: 0, rows: [:], quarantined: 0, size: 0,
                building: await ledger.buildProgress(of: definition.name))
            status.holdsErased = holdsErased
            status.isPinned = ledger.served.folder(definition.name).isPinned
            if ledger.past != nil { status.servedRecipe = definition.recipe.identifier }
            let store = try ledger.isBuilt(definition) ? ledger.store(of: definition.name) : nil
            if let store { try ledger.wrappingErrors { try Self.fill(&status, from: store, definition) } }
            all.append(status)
        }
        return all
    }

    /// Whether every view has folded the whole log, with this program's recipe. The views are opened on all cores.
    package func areViewsCurrent() throws(LedgerError) -> Bool {
        let (definitions, head) = (ledger.definitions, ledger.log.head.rawValue)
        guard try !viewsHoldErased() else { return false }
        let all = Mutex<Result<Bool, LedgerError>>(.success(true))
        DispatchQueue.concurrentPerform(iterations: definitions.count) { index in
            let one = Result { () throws(LedgerError) in try isCurrent(definitions[index], head) }
            if case .success(true) = one { return }
            all.withLock { if case .success = $0 { $0 = one } }
        }
        return try all.withLock { $0 }.get()
    }

    private func isCurrent(_ definition: ViewDefinition, _ head: UInt64) throws(LedgerError) -> Bool {
        let folder = ledger.served.folder(definition.name)
        guard !folder.isPinned else { return true }
        guard let name = folder.current(), name.prefix(while: { $0 != "." }) == definition.recipe.identifier else { return false }
        return try ledger.wrappingErrors { try ledger.served.store(definition)?.checkpoint().sequence == head }
    }

    /// Whether the views are from before the last erasure, as after an interruption: the next opening for writing rebuilds them.
    /// - Throws: errors of the log's file.
    public func viewsHoldErased() throws(LedgerError) -> Bool {
        try ledger.wrappingErrors { try ErasedViews(ledger: ledger.path).areStale(ledger.log) }
    }

    /// The same, if no other process is about to rebuild them, as one that erases does at the end.
    /// - Throws: errors of the log's file.
    public func viewsHoldErasedForGood() throws(LedgerError) -> Bool {
        let views = ErasedViews(ledger: ledger.path)
        return try ledger.wrappingErrors {
            try ledger.log.waitsInVain { () throws(EventLogError) in try views.areStale(ledger.log) }
        }
    }

    /// Statistics of this process' projectors, by view.
    public func projectorStatistics() async -> [String: ProjectorStatistics] { await ledger.engine.statistics() }

    private static func fill(
        _ status: inout ViewStatus, from store: ViewStore, _ definition: ViewDefinition
    ) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        status.checkpoint = try store.checkpoint(in: transaction).sequence
        for table in definition.rowTables { status.rows[table] = try transaction.count(store.table(table)) }
        status.quarantined = try store.quarantinedCount()
        status.size = try store.environment.info().usedSize
        status.origins = try store.origins()
        status.lost = try store.lost()
    }

    /// A hash of a view's checkpoint and rows: equal for equal views.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func digest(of view: String) throws(LedgerError) -> String {
        let definition = try ledger.definition(view)
        return try ledger.reading(view) { (store) throws(StorageError) in try store.digest(of: definition.rowTables) }
    }

    /// Events that views put into quarantine, the newest first, view by view.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func quarantine(view: String? = nil, limit: Int = .max, offset: Int = 0) throws(LedgerError) -> [QuarantineRow] {
        var rows: [QuarantineRow] = []
        for definition in ledger.definitions where view == nil || view == definition.name {
            if view == nil, try !ledger.isBuilt(definition) { continue }
            rows += try ledger.reading(definition.name) { (store) throws(StorageError) in
                try store.quarantined().map {
                    QuarantineRow(view: definition.name, sequence: $0.sequence.rawValue, reason: $0.reason)
                }
            }
        }
        return Array(rows.dropFirst(max(0, offset)).prefix(max(0, limit)))
    }

    /// Checks that every view's checkpoint is in this log, and returns the names of views whose checkpoint is not.
    /// - Throws: errors of the log's file.
    public func viewsBeyondLog() throws(LedgerError) -> [String] {
        while true {
            let before = try changesOfThePast()
            if try viewsHoldErased() { return [] }
            let strangers = try viewsWithOtherCheckpoints()
            if strangers.isEmpty { return [] }
            // Otherwise an erasure has changed checksums meanwhile, or a cut has dropped events, which says nothing about the views.
            if try changesOfThePast() == before { return strangers }
        }
    }

    /// What changes with each erasure and each cut.
    private func changesOfThePast() throws(LedgerError) -> [EventSequence] {
        try ledger.wrappingErrors { [try ledger.log.lastErasure() ?? .zero, ledger.log.first] }
    }

    private func viewsWithOtherCheckpoints() throws(LedgerError) -> [String] {
        var strangers: [String] = []
        for definition in ledger.definitions {
            guard try ledger.isBuilt(definition) else { continue }
            let checkpoint = try ledger.reading(definition.name) { (store) throws(StorageError) in try store.checkpoint() }
            // A view whose checkpoint is before the first kept event begins with its baseline.
            guard checkpoint != .start, checkpoint.sequence + 1 >= ledger.log.first.rawValue else { continue }
            try ledger.wrappingErrors {
                let known = try ledger.log.checksum(of: EventSequence(rawValue: checkpoint.sequence))
                if known != checkpoint.checksum { strangers.append(definition.name) }
            }
        }
        return strangers
    }
}
