internal import Foundation
internal import LMDB
internal import Synchronization

extension EventLog {
    /// Creates a new log in the folder `path`, which does not exist yet or is empty.
    ///
    /// - Throws: `.exists`, `.permission`, `.diskFull`, `.networkFileSystem` and others.
    public static func create(at path: String, options: EventLogOptions = EventLogOptions()) throws(EventLogError) -> EventLog {
        let folder = LogFolder(path: path)
        guard !folder.hasCurrent, folder.isFreeForLog else { throw EventLogError(.exists, path: path) }
        // An interrupted creation leaves a first generation without events, and nothing else.
        guard folder.generations.allSatisfy({ $0 == 1 }) else { throw folder.lost("it is missing, and the log is there") }
        let isNew = try folder.makeFolders()
        let lock = try WriterLock(path: folder.lockPath)
        // Another process may have created a log here, and closed it, before the lock was free.
        guard !folder.hasCurrent else { throw EventLogError(.exists, path: path) }
        do throws(EventLogError) {
            return try create(folder, isNew: isNew, lock, options)
        } catch {
            // With the lock held, so that no other process creates a log in it.
            if isNew { try? OwnedFile.removeAll(path) }  // the first failure is the one to report
            throw error
        }
    }

    private static func create(
        _ folder: LogFolder, isNew: Bool, _ lock: WriterLock, _ options: EventLogOptions
    ) throws(EventLogError) -> EventLog {
        var options = options
        options.access = .readWrite
        let environment = try openEnvironment(
            folder.environmentPath(generation: 1), options, creates: true, excludesWriters: false)
        do throws(EventLogError) {
            guard try storing({ () throws(StorageError) in try hasNoEvents(environment) }) else {
                throw folder.lost("it is missing, and the log has events")
            }
            try SigningKey.create(at: folder.signingKeyPath, seed: options.randomBytes(32))
            let log = try start(folder, 1, options, environment, lock: lock, isNew: true)
            try folder.writeCurrent(generation: 1)
            if isNew { try folder.syncAbove() }
            return log
        } catch {
            environment.close()
            throw error
        }
    }

    private static func hasNoEvents(_ environment: Environment) throws(StorageError) -> Bool {
        for name in try environment.tableNames() where name == "events" || name == "sealed" {
            let table = try environment.table(name)
            if try environment.beginRead().count(table) > 0 { return false }
        }
        return true
    }

    /// Opens the log in the folder `path`.
    ///
    /// - Throws: `.missing`, `.notALog`, `.newerFormat` (nothing was changed), `.locked` with the writer's process, `.alreadyOpen`,
    ///   `.writerRunning` to a reader without write permission for the lock file, `.permission`, `.corrupt` with what was found,
    ///   `.networkFileSystem`. Nothing is ever repaired, and only what an interrupted compaction left is removed.
    public static func open(at path: String, options: EventLogOptions = EventLogOptions()) throws(EventLogError) -> EventLog {
        let folder = LogFolder(path: path)
        var generation = try folder.readCurrent()
        if options.access == .readWrite { try folder.requireWritable() }
        let lock = options.access == .readWrite ? try WriterLock(path: folder.lockPath) : nil
        if lock != nil {
            generation = try folder.readCurrent()  // it may have been compacted before the lock was free
        }
        while true {
            do throws(EventLogError) {
                return try open(folder, generation, options, lock)
            } catch {
                // A compaction may have replaced this generation just now.
                let current = try folder.readCurrent()
                guard current != generation else { throw error }
                generation = current
            }
        }
    }

    private static func open(
        _ folder: LogFolder, _ generation: UInt32, _ options: EventLogOptions, _ lock: WriterLock?
    ) throws(EventLogError) -> EventLog {
        let readerLock = options.access == .readOnly ? try ReaderLock.ifNeeded(folder, generation: generation) : nil
        let environment = try openEnvironment(
            folder.environmentPath(generation: generation), options, creates: false, excludesWriters: readerLock != nil)
        do throws(EventLogError) {
            return try start(folder, generation, options, environment, lock: lock, readerLock: readerLock)
        } catch {
            environment.close()
            throw error
        }
    }

    static func openEnvironment(
        _ path: String, _ options: EventLogOptions, creates: Bool, excludesWriters: Bool
    ) throws(EventLogError) -> Environment {
        var environmentOptions = EnvironmentOptions(
            access: options.access == .readOnly ? .readOnly : .readWrite, durability: options.isDurable ? .full : .none,
            sizeLimit: options.sizeLimit, maximumTables: 16, createsFolder: creates)
        (environmentOptions.refusesShortFile, environmentOptions.isSharedLikeFolder) = (true, true)
        environmentOptions.excludesWriters = excludesWriters
        do throws(StorageError) {
            return try Environment.open(path, environmentOptions)
        } catch {
            guard error.code == .missing else { throw EventLogError(error) }
            throw EventLogError(.corrupt, path: path, detail: "the log's file is missing", cause: error)
        }
    }

    private static func start(
        _ folder: LogFolder, _ generation: UInt32, _ options: EventLogOptions, _ environment: Environment, lock: WriterLock?,
        readerLock: ReaderLock? = nil, isNew: Bool = false
    ) throws(EventLogError) -> EventLog {
        let store = try storing { () throws(StorageError) in
            try LogStore(environment: environment, blocks: BlockCache(limit: options.blockCacheLimit))
        }
        if isNew {
            try storing { () throws(StorageError) in
                try store.writeMeta(
                    created: options.created ?? options.clock(), identifier: options.identifier ?? options.randomBytes(16))
                try options.beginning?.write(to: store)
            }
        }
        let identifier = try store.checkMeta(path: folder.path)
        let tail = try LogTail(store, checksums: options.checksTail)
        if lock != nil {
            try folder.removeLeftovers(of: generation, store)
        } else {
            try folder.requireFurthest(generation, head: tail.head)
        }
        let names = SourceNames(try store.readSources())
        let isInMemory =
            if let given = options.isInMemory { given } else {
                try storing { () throws(StorageError) in try environment.isInMemory() }
            }
        let queue = AppendQueue(limit: options.queueLimit, sharesClock: isInMemory, clock: options.clock)
        let board = HeadPublisher(head: tail.head, cut: tail.cut)
        let prepared = PreparedWorkBox()
        let stores = StoreBox(store)
        let sizes = SizeGuard(path: folder.path, stores: stores, limit: options.sizeLimit, slowestCommit: options.slowestCommit)
        let keeper = LogKeeper(sizes, interval: options.lookInterval)
        let writer = LogWriter(
            stores: stores, sizes: sizes, path: folder.path, board: board, names: names, prepared: prepared, tail: tail,
            saltSeed: options.saltSeed ?? { _ in options.randomBytes(TileSalts.seedSize) }, commitFault: options.commitFault,
            place: options.isTemporary ? nil : lock.map { LogPlace(folder.path, $0) })
        let sealer = Sealer(
            stores: stores, policy: options.sealing, summariser: options.summariser, prepared: prepared, board: board
        ) { Relay.run { queue.nudge(options.clock()) } }
        let maintenance = Maintenance(sizes)
        let dropper = Dropper(
            stores: stores, summariser: options.summariser, prepared: prepared, maintenance: maintenance
        ) { Relay.run { queue.nudge(options.clock()) } }
        let log = EventLog(
            path: folder.path, identifier: identifier, options: options, stores: stores, queue: queue, board: board, names: names,
            sizes: sizes, keeper: keeper,
            driver: lock == nil ? nil : LogDriver(queue: queue, writer: writer, sizes: sizes, isInMemory: isInMemory),
            sealer: lock == nil ? nil : sealer, maintenance: lock == nil ? nil : maintenance,
            dropper: lock == nil ? nil : dropper, watch: lock == nil ? nil : clockWatch(options), readerLock: readerLock)
        if let lock {
            log.startWriter(
                lock, keeper, TreeKeeper(stores: stores, prepared: prepared) { Relay.run { queue.nudge(options.clock()) } })
        }
        if let last = tail.lastArrival { log.noteClock(after: last) }
        log.finishInterrupted()
        return log
    }

    private static func clockWatch(_ options: EventLogOptions) -> ClockWatch? {
        guard !options.isTemporary, let steady = options.steadyClock else { return nil }
        return ClockWatch(options.clock, steady: steady)
    }

    private func startWriter(_ lock: WriterLock, _ keeper: LogKeeper, _ tree: TreeKeeper) {
        keeper.start { [weak self] in self?.noteClockLater() }
        let (board, end, stores, maintenance) = (board, end, stores, maintenance)
        let removes = options.isTemporary ? path : nil
        _ = board.addHook { head in tree.wake(head: head.rawValue) }
        tree.wake(head: board.head)
        if let sealer {
            _ = board.addHook { [weak sealer] head in sealer?.wake(head: head.rawValue) }
            sealer.wake(head: board.head)
        }
        if board.cut > 0, let dropper {
            // The next writer tries again; no reader sees what is left.
            maintenance?.start { try? dropper.drop() }  // see above
        }
        let sealer = sealer
        driver?.start {
            board.close()
            keeper.end()
            maintenance?.finish()
            sealer?.finish()
            tree.finish(isCatchingUp: removes == nil)
            stores.store.environment.close()
            if let removes {
                try? FileManager.default.removeItem(atPath: removes)  // files left in memory do no harm
            }
            lock.release()
            end.open()
        }
    }

    /// A new log in memory (`/dev/shm`, or the temporary folder where that does not exist) that is removed when it is closed or released.
    /// - Throws: `.cannotCreate`, `.diskFull` and others.
    public static func temporary(options: EventLogOptions = EventLogOptions()) throws(EventLogError) -> EventLog {
        let memory = "/dev/shm"
        let parent = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
        var options = options
        options.isTemporary = true
        return try create(at: "\(parent)/meshledger-\(UUID().uuidString)", options: options)
    }
}
