import EventLog
package import LMDB

/// One running projection, which receives batches from the pipeline.
package protocol BatchFolder<Batch>: Actor {
    associatedtype Batch: FoldBatch
    nonisolated var viewName: String { get }
    func checkpoint() -> Checkpoint
    func storedStageState() throws -> StageState
    func fold(_ batch: Batch, isCatchingUp: Bool) throws
    func flush(_ reason: FlushReason) throws
    /// The approximate number of bytes that the next flush writes, including entries of indexes.
    func pendingWork() -> Int
    func statistics() -> ProjectorStatistics
    func stop()
    /// From the next commit on, records which rows change, keeping this many of the latest changes, and calls `hook` after each commit.
    func recordChanges(keeping limit: Int, _ hook: @escaping @Sendable () -> Void)
}

/// Statistics of a projector since it was started.
public struct ProjectorStatistics: Sendable {
    public var folded: UInt64 = 0
    public var commits: [FlushReason: Int] = [:]
    public var lastError: String?
}

/// Runs one projection: folds batches in memory and commits rows, caps, quarantine, carried state and checkpoint together.
///
/// It works on the threads that fold, because LMDB's write transactions block. A commit that fails is thrown, counted, and retried
/// with the next one: nothing that was folded is dropped before it is on disk.
package actor Projector<P: Projection>: BatchFolder {
    private let executor: SerialQueueExecutor
    private var projection: P
    private let store: ViewStore
    private let clock: any LedgerClock
    private var schedule: FlushSchedule
    private var committed: Checkpoint
    private var reached: Checkpoint
    private var stageState = PendingStageState()
    private var quarantined: [Quarantined] = []
    private var counters = ProjectorStatistics()
    private var timer: Task<Void, Never>?
    private var timerTarget: Duration?
    private let policy: FlushPolicy
    /// How many changes are kept; nil if none are recorded.
    private var changesKept: Int?
    private var commitHook: (@Sendable () -> Void)?
    /// In bytes of pending rows and state.
    private static var largeCommit: Int { 4 << 20 }

    package nonisolated let viewName: String
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Takes over the store, which must be open for writing, at its checkpoint.
    package init(
        _ projection: P, store: ViewStore, clock: any LedgerClock = MonotonicClock(), policy: FlushPolicy = FlushPolicy()
    ) throws(StorageError) {
        var loaded = projection
        try loaded.load(store)
        self.projection = loaded
        self.store = store
        self.clock = clock
        self.policy = policy
        schedule = FlushSchedule(policy: policy)
        committed = try store.checkpoint()
        reached = committed
        viewName = projection.name
        executor = SerialQueueExecutor(label: "meshledger.view.\(projection.name)")
    }

    package func checkpoint() -> Checkpoint { reached }

    package func storedStageState() throws -> StageState { try store.stageState() }

    package func recordChanges(keeping limit: Int, _ hook: @escaping @Sendable () -> Void) {
        (changesKept, commitHook) = (limit, hook)
    }

    package func statistics() -> ProjectorStatistics { counters }

    /// Folds the part of the batch after this view's checkpoint.
    package func fold(_ batch: P.Batch, isCatchingUp: Bool) throws {
        guard batch.events.upperBound.rawValue > reached.sequence else { return }
        guard batch.events.lowerBound.rawValue <= reached.sequence + 1 else { throw FoldFailure() }
        var context = FoldContext(store: store)
        try projection.fold(batch, after: EventSequence(rawValue: reached.sequence), in: &context)
        stageState.add(batch.stageState, after: reached.sequence)
        quarantined += context.quarantined
        counters.folded += batch.events.upperBound.rawValue - reached.sequence
        reached = Checkpoint(sequence: batch.events.upperBound.rawValue, checksum: batch.lastChecksum)
        if projection.pendingBytes + stageState.byteCount >= policy.pendingBytesLimit {
            // While a view is rebuilt, its indexes are left to the end, where building them takes a fraction of the time.
            return try flush(.size, buildsIndexes: !isCatchingUp)
        }
        if !isCatchingUp && reached.sequence - committed.sequence >= policy.idleEventLimit { return try flush(.size) }
        schedule.changed(context.urgency, at: clock.now)
        if !isCatchingUp { try flushIfDue() }
    }

    /// Commits everything pending, and builds missing indexes. Does nothing if nothing is pending.
    package func flush(_ reason: FlushReason) throws { try flush(reason, buildsIndexes: true) }

    private func flush(_ reason: FlushReason, buildsIndexes: Bool) throws {
        do {
            var lacksIndexes = true
            if reached != committed {
                let start = clock.now
                lacksIndexes = try !commit()
                settle(reason, begunAt: start)
            }
            if buildsIndexes && lacksIndexes { try store.buildMissingIndexes() }
        } catch {
            counters.lastError = "\(error)"
            throw error
        }
        counters.lastError = nil
    }

    /// - Returns: whether all indexes match the rows; else they are still to be built.
    private func commit() throws(StorageError) -> Bool {
        let upkeep = try store.indexUpkeep()
        let watchesAll = changesKept != nil
        let watched = watchesAll ? projection.rowTables : upkeep.updated.map(\.table)
        let watch = watched.isEmpty ? nil : RowWatch(try tables(watched))
        var transaction = try store.environment.beginWrite(watching: watch)
        guard try store.checkpoint(in: transaction) == committed else {
            throw StorageError(.replaced, call: "another view was written over its file", path: store.path)
        }
        try projection.write(to: &transaction, store: store)
        let changes = watch?.changes ?? []
        if let changesKept { try store.add(changes, keeping: changesKept, at: reached, to: &transaction) }
        let areKept = try store.keep(upkeep, changes, at: reached, in: &transaction)
        try store.add(stageState, to: &transaction)
        try store.add(quarantined, to: &transaction)
        try store.setCheckpoint(reached, in: &transaction)
        try transaction.commit()
        return areKept
    }

    /// Drops what is committed.
    private func settle(_ reason: FlushReason, begunAt start: Duration) {
        let wasLarge = projection.pendingBytes + stageState.byteCount >= Self.largeCommit
        projection.committed()
        stageState = PendingStageState()
        quarantined.removeAll()
        committed = reached
        commitHook?()
        counters.commits[reason, default: 0] += 1
        // From the commit's start, but a slow disk rests for half of the interval.
        schedule.flushed(at: max(start, clock.now - policy.immediateInterval / 2))
        if wasLarge { FreedMemory.giveBackSoon() }
    }

    private func tables(_ names: [String]) throws(StorageError) -> [RawTable] {
        var tables: [RawTable] = []
        for name in names { tables.append(try store.table(name)) }
        return tables
    }

    package func pendingWork() -> Int {
        let rows = projection.pendingBytes / 100
        let entries = (try? store.missingEntries(besides: rows)) ?? 0  // unreadable: the flush reports it
        return projection.pendingBytes + entries * 32
    }

    package func stop() {
        timer?.cancel()
        timer = nil
        timerTarget = nil
    }

    // MARK: Timers

    private func flushIfDue() throws {
        guard let due = schedule.due else { return }
        if due.time <= clock.now { return try flush(due.reason) }
        arm(for: due.time)
    }

    /// One sleeping task; it is replaced only if something is due before it would wake.
    private func arm(for target: Duration) {
        if let timerTarget, timerTarget <= target { return }
        timer?.cancel()
        timerTarget = target
        let clock = clock
        timer = Task { [weak self] in
            do {
                try await clock.sleep(until: target)
            } catch {
                return  // cancelled: another timer took over, or the projector stops
            }
            await self?.timerRang()
        }
    }

    private func timerRang() {
        timer = nil
        timerTarget = nil
        do {
            try flushIfDue()
        } catch {
            counters.lastError = "\(error)"
            arm(for: clock.now + policy.ceiling)
        }
    }
}
