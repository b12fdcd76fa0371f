package import EventLog
import LMDB

/// Folds a range of the log into a store with no other user, on the caller's thread; decoding runs on other threads.
///
/// It produces the same store as a `Projector` that folds these events: rows, quarantine, carried state and checkpoint.
package enum Replay {
    /// How many batches are decoded ahead.
    private static let depth = 3

    /// Folds the events after the store's checkpoint, up to and including `target`.
    ///
    /// - Parameters:
    ///   - halts: sequences, in order, at which everything is committed and `atHalt` is called; those not after the checkpoint are skipped.
    ///   - pendingLimit: the size of pending rows, in bytes, at which they are committed.
    package static func run<P: Projection, Stage: FoldStage>(
        _ projection: P, into store: ViewStore, by stage: Stage, through target: UInt64, batchSize: UInt64 = 4_096,
        pendingLimit: Int = 20 << 20, halts: [UInt64] = [], atHalt: (UInt64) throws -> Void = { _ in }
    ) throws where P.Batch == Stage.Batch {
        var run = try ReplayRun(projection, store, stage)
        let ends = halts.filter { $0 < target } + [target]
        for end in ends where end > run.reached.sequence {
            try run.fold(through: end, batchSize, depth, pendingLimit)
            try run.commit()
            if halts.contains(end) { try atHalt(end) }
        }
    }

    /// Folds one batch, whose events need not be consecutive, into a store and commits it.
    ///
    /// Batches may come in any order if the rows do not depend on it.
    /// - Parameter cut: events up to it are skipped.
    package static func run<P: Projection>(
        _ projection: P, into store: ViewStore, _ batch: P.Batch, after cut: EventSequence
    ) throws {
        var projection = projection
        try projection.load(store)
        var context = FoldContext(store: store)
        try projection.fold(batch, after: cut, in: &context)
        var transaction = try store.environment.beginWrite()
        try projection.write(to: &transaction, store: store)
        try store.add(context.quarantined, to: &transaction)
        try store.setCheckpoint(
            Checkpoint(sequence: batch.events.upperBound.rawValue, checksum: batch.lastChecksum), in: &transaction)
        try transaction.commit()
    }
}

private struct ReplayRun<P: Projection, Stage: FoldStage> where P.Batch == Stage.Batch {
    private var projection: P
    private let store: ViewStore
    private let stage: Stage
    private var state: Stage.State
    private(set) var reached: Checkpoint
    private var stageState = PendingStageState()
    private var quarantined: [Quarantined] = []

    init(_ projection: P, _ store: ViewStore, _ stage: Stage) throws {
        self.projection = projection
        try self.projection.load(store)
        self.store = store
        self.stage = stage
        state = stage.initialState()
        reached = try store.checkpoint()
        stage.restore(try store.stageState(), into: &state)
    }

    mutating func fold(through target: UInt64, _ batchSize: UInt64, _ depth: Int, _ pendingLimit: Int) throws {
        let stage = stage
        var ahead = WorkAhead<Stage.Batch, any Error>()
        defer { ahead.drop() }  // they read the log, which may be closed next
        var next = reached.sequence + 1
        while reached.sequence < target {
            while ahead.count < depth, next <= target {
                let last = min(target, next + batchSize - 1)
                let events = EventSequence(rawValue: next)...EventSequence(rawValue: last)
                ahead.append { Result { try stage.decode(events) } }
                next = last + 1
            }
            var batch = try ahead.removeFirst().get()
            stage.resolve(&batch, state: &state)
            try fold(batch)
            stage.recycle(batch)
            if projection.pendingBytes + stageState.byteCount >= pendingLimit { try commit() }
        }
    }

    private mutating func fold(_ batch: Stage.Batch) throws {
        var context = FoldContext(store: store)
        try projection.fold(batch, after: EventSequence(rawValue: reached.sequence), in: &context)
        stageState.add(batch.stageState, after: reached.sequence)
        quarantined += context.quarantined
        reached = Checkpoint(sequence: batch.events.upperBound.rawValue, checksum: batch.lastChecksum)
    }

    mutating func commit() throws {
        guard try store.checkpoint() != reached else { return }
        var transaction = try store.environment.beginWrite()
        try projection.write(to: &transaction, store: store)
        try store.add(stageState, to: &transaction)
        try store.add(quarantined, to: &transaction)
        try store.setCheckpoint(reached, in: &transaction)
        try transaction.commit()
        projection.committed()
        stageState = PendingStageState()
        quarantined.removeAll()
    }
}
