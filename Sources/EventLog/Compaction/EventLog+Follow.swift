internal import LMDB
internal import Synchronization

extension LogReader {
    /// Whether the generation is marked as replaced. It is marked before anything is appended to the new one, so a reader that does not
    /// find the mark has missed nothing.
    func isReplaced() throws(EventLogError) -> Bool {
        try storing { () throws(StorageError) in try store.metaNumber("successor", transaction) != nil }
    }
}

extension LogStore {
    /// Marks the generation that replaces this one; nil removes the mark.
    func setSuccessor(_ generation: UInt32?) throws(StorageError) {
        try environment.write { (write) throws(StorageError) in
            let numbers = Table<String, UInt64>(raw: meta)
            if let generation {
                try write.put(numbers, "successor", UInt64(generation))
            } else {
                try write.delete(numbers, "successor")
            }
        }
    }
}

extension LogStore {
    /// Removes the mark for a generation that never took over.
    func removeSuccessor() throws(StorageError) {
        let isThere = try environment.read { (read) throws(StorageError) in try metaNumber("successor", read) != nil }
        if isThere { try setSuccessor(nil) }
    }
}

extension EventLog {
    /// The store of the generation that is the log now.
    package func currentStore() throws(EventLogError) -> LogStore { isReadOnly ? try beginRead().store : store }

    /// Switches a reader to the generation that has replaced `old`.
    /// - Returns: false if no generation has replaced it: the change was interrupted.
    func follow(_ old: LogStore) throws(EventLogError) -> Bool {
        let folder = LogFolder(path: path)
        return try following.withLock { _ throws(EventLogError) in
            guard store.environment === old.environment else { return true }  // another thread has been faster
            var generation = try folder.readCurrent()
            while folder.environmentPath(generation: generation) != old.environment.path {
                do throws(EventLogError) {
                    stores.replace(with: try openStore(folder, generation))
                    return true
                } catch {
                    let current = try folder.readCurrent()
                    guard current != generation else { throw error }
                    generation = current
                }
            }
            return false
        }
    }

    private func openStore(_ folder: LogFolder, _ generation: UInt32) throws(EventLogError) -> LogStore {
        let environment = try Self.openEnvironment(
            folder.environmentPath(generation: generation), options, creates: false, excludesWriters: excludesWriters)
        do throws(EventLogError) {
            let store = try storing { () throws(StorageError) in
                try LogStore(environment: environment, blocks: BlockCache(limit: options.blockCacheLimit))
            }
            guard try store.checkMeta(path: path) == identifier else {
                throw EventLogError(.corrupt, path: environment.path, detail: "it belongs to another ledger")
            }
            return store
        } catch {
            environment.close()
            throw error
        }
    }
}
