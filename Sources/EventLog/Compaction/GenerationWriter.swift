internal import Glibc
internal import LMDB

/// Writes the log as a new generation while the writer continues, and replaces the old one with it.
struct GenerationWriter: Sendable {
    /// Bytes that may be left to copy when the writer is stopped, unless it appends faster than that.
    private static let leftover = 256 << 10
    /// Bytes that are copied between two syncs.
    private static let portion = 4 << 20
    /// Bytes that are copied at a time until then.
    private static let rest = 64 << 20

    private let log: EventLog
    private let folder: LogFolder
    private let maintenance: Maintenance

    init(_ log: EventLog, _ maintenance: Maintenance) {
        self.log = log
        self.maintenance = maintenance
        folder = LogFolder(path: log.path)
    }

    func write() throws(EventLogError) -> LogCompaction {
        let old = try folder.readCurrent()
        guard old < .max, log.store.environment.path == folder.environmentPath(generation: old) else {
            throw EventLogError(.storage, path: log.path, detail: "generation \(old) is not the one that is open")
        }
        guard !log.areWritesClosed else { throw EventLogError(.writesClosed, path: log.path) }
        try folder.removeLeftovers(of: old, log.store)
        let oldPath = folder.environmentPath(generation: old)
        let before = try SmallFile.size(oldPath + "/data.mdb")
        try makeFolder(new: old + 1, like: oldPath)  // what is there already is not ours to remove
        do throws(EventLogError) {
            try fill(old + 1)
            let target = try reopen(old + 1, like: oldPath)
            do throws(EventLogError) {
                try takeOver(target, old + 1, try compare(target))
            } catch {
                target.environment.close()
                throw error
            }
        } catch {
            // It stays if it is the log by now, or if that cannot be determined.
            let current = try? folder.readCurrent()  // the first failure is the one to report
            if current == old { folder.remove(generation: old + 1) }
            throw error
        }
        folder.remove(generation: old)
        let after = try SmallFile.size(folder.environmentPath(generation: old + 1) + "/data.mdb")
        return LogCompaction(sizeBefore: before, sizeAfter: after, generation: old + 1)
    }

    private func makeFolder(new: UInt32, like old: String) throws(EventLogError) {
        let target = folder.environmentPath(generation: new)
        try SmallFile.creating(target) { () throws(StorageError) in try OwnedFile.makeNewFolder(target) }
        do throws(EventLogError) {
            try SmallFile.copyRights(of: old, to: target)
        } catch {
            try? OwnedFile.removeEmptyFolder(target)  // the earlier failure is the one to report
            throw error
        }
    }

    /// Copies almost everything, in portions that are synced one by one: a commit of the writer that meets such a sync waits for one portion, not for
    /// the whole copy.
    private func fill(_ new: UInt32) throws(EventLogError) {
        let target = try open(new, isDurable: false)
        defer { target.environment.close() }
        try storing { () throws(StorageError) in
            let size = try log.store.environment.extent().usedSize
            let copier = LogCopier(source: log.store, target: target, stepSize: Self.portion)
            _ = try copier.copy(limit: 2 * size) { () throws(StorageError) in
                if log.options.isDurable { try target.environment.sync() }
            } goesOn: {
                !maintenance.isEnded
            }
        }
    }

    /// From here on, every commit to the new generation is as durable as a commit to the log.
    private func reopen(_ new: UInt32, like old: String) throws(EventLogError) -> LogStore {
        let target = try open(new, isDurable: log.options.isDurable)
        do throws(EventLogError) {
            for file in ["/data.mdb", "/lock.mdb"] {
                try SmallFile.copyRights(of: old + file, to: target.environment.path + file)
            }
            for _ in 0..<8 {
                let copier = LogCopier(source: log.store, target: target)
                let bytes = try storing { () throws(StorageError) in
                    try copier.copy(limit: Self.rest, goesOn: { !maintenance.isEnded })
                }
                if bytes < Self.leftover { break }
            }
            return target
        } catch {
            target.environment.close()
            throw error
        }
    }

    /// Compares almost everything with the log, and brings the copy up to date with what was appended meanwhile.
    private func compare(_ target: LogStore) throws(EventLogError) -> CopyComparison {
        log.options.copied?(target.environment.path)
        return try storing { () throws(StorageError) in
            var comparison = CopyComparison(source: log.store, target: target)
            try comparison.advance { !maintenance.isEnded }
            _ = try LogCopier(source: log.store, target: target).copy(limit: Self.rest, goesOn: { !maintenance.isEnded })
            return comparison
        }
    }

    private func open(_ new: UInt32, isDurable: Bool) throws(EventLogError) -> LogStore {
        var options = log.options
        options.isDurable = isDurable
        options.sizeLimit = log.sizes.mapLimit
        let environment = try EventLog.openEnvironment(
            folder.environmentPath(generation: new), options, creates: true, excludesWriters: false)
        do throws(StorageError) {
            return try LogStore(environment: environment, blocks: BlockCache(limit: options.blockCacheLimit))
        } catch {
            environment.close()
            throw EventLogError(error)
        }
    }

    /// Stops the writer, copies the rest, and resumes the writer in the new generation.
    private func takeOver(_ target: LogStore, _ new: UInt32, _ comparison: CopyComparison) throws(EventLogError) {
        guard let driver = log.driver else { throw EventLogError(.readOnly, path: log.path) }
        let (folder, stores) = (folder, log.stores)
        try driver.withWriterStopped { _ throws(EventLogError) in
            let source = stores.store
            try storing { () throws(StorageError) in
                _ = try LogCopier(source: source, target: target).copy()
                var comparison = comparison
                try comparison.finish()
            }
            guard try LogContents(source) == LogContents(target) else {
                throw EventLogError(
                    .corrupt, path: target.environment.path, detail: "the copy differs from the log, which stays as it was")
            }
            try SmallFile.syncFolder(target.environment.path)
            try SmallFile.syncFolder(folder.logPath)
            try storing { () throws(StorageError) in try source.setSuccessor(new) }
            do throws(EventLogError) {
                try folder.writeCurrent(generation: new)
            } catch {
                if (try? folder.readCurrent()) == new {  // unreadable: what is on the disk is unknown, too
                    // It is unknown which of the two would remain after a power cut, so neither may change.
                    source.environment.closeWrites()
                } else {
                    _ = try? source.setSuccessor(nil)  // a reader looks at `current` in vain until it is removed
                }
                throw error
            }
            stores.replace(with: target)
        }
    }
}

/// The row counts by which a copy is compared with its source.
private struct LogContents: Equatable {
    var extent: LogExtent
    var rows: [String: Int]

    init(_ store: LogStore) throws(EventLogError) {
        (extent, rows) = try storing { () throws(StorageError) -> (LogExtent, [String: Int]) in
            let read = try store.environment.beginRead()
            var rows: [String: Int] = [:]
            for name in try store.environment.tableNames() where name != "meta" {
                rows[name] = try read.count(try store.environment.table(name))
            }
            return (try store.extent(read), rows)
        }
    }
}
