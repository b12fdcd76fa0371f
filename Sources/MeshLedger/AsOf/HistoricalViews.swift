import EventLog
import Foundation
import LMDB
import MeshViews
import Projections
import Synchronization

/// The views of a ledger as of an event: each is built on first use, in unnamed files in memory.
///
/// Synchronization: the mutex, which is held while a view is built, so that it is built once.
final class HistoricalViews: Sendable {
    private struct Made {
        var stores: [String: ViewStore] = [:]
        /// The last erasure when they were built.
        var erasure: EventSequence?
    }

    let whole: Ledger
    let through: UInt64
    let clock: Timestamp?
    /// The first event that does not count because it was heard after `clock`; nil if all events up to `through` count.
    let heardLater: UInt64?
    let stage: MeshStage
    /// The last event up to which states of the whole ledger are also those of that time.
    private var common: UInt64 { heardLater.map { min($0 - 1, through) } ?? through }
    private let made = Mutex(Made())

    init(_ whole: Ledger, through: UInt64, clock: Timestamp?, heardLater: UInt64? = nil) {
        self.whole = whole
        self.through = through
        self.clock = clock
        self.heardLater = heardLater
        stage = MeshStage(log: whole.log, keyring: whole.keys.keyring, lastHeard: heardLater == nil ? nil : clock)
    }

    func store(_ definition: ViewDefinition) throws(LedgerError) -> ViewStore {
        try store(named: definition.name) { place, path in try self.make(definition, at: path, in: place) }
    }

    /// The store with that name; one that was built before the last erasure is rebuilt.
    func store(
        named name: String, _ make: (_ place: TemporaryStores, _ path: String) throws -> ViewStore
    ) throws(LedgerError) -> ViewStore {
        try whole.wrappingErrors {
            return try made.withLock { made in
                let erasure = try whole.log.lastErasure()
                if made.erasure != erasure {
                    for store in made.stores.values { store.close() }
                    made = Made(erasure: erasure)
                }
                if let known = made.stores[name] { return known }
                let place = try TemporaryStores()
                defer { place.remove() }  // processes that have them open keep them
                let store = try make(place, place.path + "/" + name)
                made.stores[name] = store
                return store
            }
        }
    }

    private func make(_ definition: ViewDefinition, at path: String, in place: TemporaryStores) throws -> ViewStore {
        let snapshots = try HistoricalSnapshots(definition, of: whole)
        snapshots.prune()
        let store =
            try snapshots.store(at: path, through: common)
            ?? ViewBaselines(log: whole.log).store(definition, at: path)
        place.hide(store)
        do {
            try definition.replay(store, stage, through, snapshots.places(through: common)) { sequence in
                snapshots.keep(store, at: sequence)
            }
            try store.buildMissingIndexes()
            return store
        } catch {
            store.close()
            throw error
        }
    }

    func close() {
        let all = made.withLock { made in
            defer { made.stores.removeAll() }
            return made.stores.values
        }
        for store in all { store.close() }
    }
}

/// A folder in memory, for its owner only.
struct TemporaryStores {
    let path: String
    /// Shows other processes that it is in use; the system releases it when the process ends, however it ends.
    private let lock: Int32

    init() throws {
        (path, lock) = try TemporaryFolders.make { path in
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let lock = try OwnedFile.open(path + "/LOCK", O_RDWR | O_CREAT | O_EXCL)
            flock(lock, LOCK_EX | LOCK_NB)
            try OwnedFile.write(lock, Array("\(getpid())\n".utf8), path + "/LOCK")
            return lock
        }
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)  // what is left is removed by a later command
        close(lock)
    }

    /// Removes the names of a store's files while it has them open, so that nothing is left however the process ends.
    ///
    /// - Parameter isLast: whether no other store is made here, so that the folder goes as well.
    func hide(_ store: ViewStore, isLast: Bool = true) {
        store.environment.giveUpName()
        try? FileManager.default.removeItem(atPath: isLast ? path : store.path)  // then `remove` does
    }
}
