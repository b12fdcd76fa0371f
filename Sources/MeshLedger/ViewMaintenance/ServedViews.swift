import EventLog
import Foundation
import LMDB
import MeshViews
import Projections
import Synchronization

/// The stores that queries read: for each view the one that its folder names.
///
/// Synchronization: the mutex; a store that was replaced stays usable for its holders.
final class ServedViews: Sendable {
    private let root: String
    /// Read only: checks the folder again with every query, since another process may swap views.
    private let followsFolder: Bool
    /// No process can write meanwhile, so views whose lock files this user may not write can be read without them.
    private let excludesWriters: Bool
    private let stores = Mutex<[String: Served]>([:])
    /// Rises with each commit of a view in this process.
    let commits = RisingNumber()

    private struct Served {
        let name: String
        /// The file that names the store: queries of a few rows would notice the cost of making its path.
        let naming: String
        /// The inode of the store's file, and the state of the file that named it.
        var file: UInt64 = 0
        var stamp: FileStamp?
        let store: ViewStore

        init(_ name: String, in folder: ViewFolder, file: UInt64 = 0, stamp: FileStamp? = nil, _ store: ViewStore) {
            (self.name, self.file, self.stamp, self.store) = (name, file, stamp, store)
            naming = folder.currentFile
        }

        /// Whether the folder still has what it had.
        var isCurrent: Bool { stamp != nil && FileStamp(naming) == stamp && store.environment.hasName }
    }

    init(root: String, followsFolder: Bool, excludesWriters: Bool) {
        self.root = root
        self.followsFolder = followsFolder
        self.excludesWriters = excludesWriters
    }

    func folder(_ view: String) -> ViewFolder { ViewFolder(path: root + "/" + view) }

    /// The store to read, or nil before the view's first build.
    func store(_ definition: ViewDefinition) throws(StorageError) -> ViewStore? {
        let known = stores.withLock { $0[definition.name] }
        guard followsFolder else { return known?.store }
        if let known, known.isCurrent { return known.store }
        let folder = folder(definition.name)
        var stamp = folder.stamp
        while let current = folder.current() {
            let path = folder.store(current)
            // An erasure may have replaced it by another one of the same name.
            let file = Self.file(Self.data(of: path))
            if let known, known.name == current, known.file == file {
                stores.withLock { $0[definition.name]?.stamp = stamp }
                return known.store
            }
            do throws(StorageError) {
                let store = try open(path, definition)
                stores.withLock { $0[definition.name] = Served(current, in: folder, file: file, stamp: stamp, store) }
                return store
            } catch {
                // Otherwise it was removed or replaced because another one is now served.
                if folder.current() == current, Self.file(Self.data(of: path)) == file { throw error }
                stamp = folder.stamp
            }
        }
        return nil
    }

    private func open(_ path: String, _ definition: ViewDefinition) throws(StorageError) -> ViewStore {
        try ViewStore.open(
            at: path, recipe: definition.recipe, tables: definition.tables, indexes: definition.indexes, access: .readOnly,
            excludesWriters: excludesWriters)
    }

    /// The inode of the store's file, which no other file gets as long as it is open.
    private static func file(_ path: String) -> UInt64 {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    private static func data(of store: String) -> String { store + "/data.mdb" }

    /// The open environments, by view.
    func environments() -> [(view: String, environment: Environment)] {
        stores.withLock { stores in stores.map { ($0.key, $0.value.store.environment) } }
    }

    /// The last event of which all open views have stored the rows; nil if none is open.
    var committedThrough: UInt64? {
        let all = stores.withLock { $0.values.map(\.store) }
        return all.compactMap { try? $0.checkpoint().sequence }.min()  // one that is closed meanwhile has no say
    }

    func serve(_ store: ViewStore, as name: String, for view: String) {
        stores.withLock { $0[view] = Served(name, in: folder(view), store) }
        commits.raise()
    }

    /// - Parameter code: the error of those who still read.
    func close(refusing code: StorageError.Code = .closed) {
        let all = stores.withLock { stores in
            defer { stores.removeAll() }
            return stores.values.map(\.store)
        }
        for store in all { store.environment.close(refusing: code) }
        commits.raise()
    }

    /// Suspends until a view may have changed since `commits` had this value: until its next commit in the process that writes, else for a while; until the
    /// task is cancelled at most.
    func waitForCommit(past known: UInt64, _ pace: inout PollPace) async {
        if followsFolder { await pace.wait() } else { await commits.wait(past: known) }
    }
}
