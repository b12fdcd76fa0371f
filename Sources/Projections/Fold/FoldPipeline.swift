import EventLog
import Foundation

/// The progress of a fold.
public struct FoldProgress: Sendable {
    /// The events already folded and still to fold, and where the fold began.
    public var start: UInt64
    public var position: UInt64
    public var target: UInt64

    public init(start: UInt64, position: UInt64, target: UInt64) {
        self.start = start
        self.position = position
        self.target = target
    }

    public var fraction: Double {
        target <= start ? 1 : Double(position - start) / Double(target - start)
    }
}

private let coreCount = max(ProcessInfo.processInfo.activeProcessorCount, 1)

/// The points at which a fold pauses, with no batch in flight, and what is done there.
package struct FoldBarriers<Batch: FoldBatch>: Sendable {
    /// Given the position and the fold's end, returns the events after which it pauses, in order.
    let places: @Sendable (_ reached: UInt64, _ target: UInt64) -> [UInt64]
    let visit: @Sendable (_ halt: UInt64, _ folders: [any BatchFolder<Batch>]) async throws -> Void

    package init(
        places: @escaping @Sendable (_ reached: UInt64, _ target: UInt64) -> [UInt64],
        visit: @escaping @Sendable (_ halt: UInt64, _ folders: [any BatchFolder<Batch>]) async throws -> Void
    ) {
        (self.places, self.visit) = (places, visit)
    }
}

/// A pipeline that failed earlier was asked to continue.
package struct FoldFailure: Error, CustomStringConvertible {
    package var description: String { "folding the views failed earlier and has to restart from their checkpoints" }
}

/// Reads the log, decodes it on several threads, runs the sequential stage, and passes each batch to all projectors.
///
/// Batches are decoded ahead while earlier ones are folded; only a few exist at once, so memory does not depend on the log's
/// length. The projectors work concurrently; each receives the batches in order.
package actor FoldPipeline<Stage: FoldStage> {
    package typealias Folder = any BatchFolder<Stage.Batch>

    private let executor = SerialQueueExecutor(label: "meshledger.pipeline")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let stage: Stage
    private var folders: [Folder]
    private var state: Stage.State
    private var position: UInt64
    private let decoders = DecodeExecutor()
    private let batchSize: UInt64
    private var tail: Task<Void, any Error>?
    /// The batches that not every projector has folded yet, the oldest first.
    private var behind: [BatchBehind] = []
    /// A batch was not folded by every projector, or the fold was stopped: the next fold starts from the stored checkpoints.
    package private(set) var hasFailed = false
    private var failureHook: (@Sendable (any Error) -> Void)?

    private struct BatchBehind {
        let batch: Stage.Batch
        /// By the view's name. A chain of tasks for each projector keeps its batches in order.
        let tasks: [String: Task<Void, any Error>]
        /// Ends when all have ended, and removes the batch from those behind.
        let whole: Task<Void, any Error>
    }

    /// How many batches may be decoded ahead.
    private static var depthAhead: Int { 3 }
    /// How many batches may wait for the slowest projector, and how many events, in batches of full size: enough for the others to continue while one
    /// commits.
    private static var mostBehind: Int { 128 }
    private static var depthBehind: UInt64 { 12 }

    /// Starts at the checkpoint of the projector that is furthest behind, with the state that it stored.
    package init(stage: Stage, folders: [Folder], batchSize: UInt64 = 4_096) async throws {
        self.stage = stage
        self.folders = folders
        self.batchSize = batchSize
        var state = stage.initialState()
        var slowest: (folder: Folder, sequence: UInt64)?
        for folder in folders {
            let sequence = await folder.checkpoint().sequence
            if sequence < slowest?.sequence ?? .max { slowest = (folder, sequence) }
        }
        if let slowest { stage.restore(try await slowest.folder.storedStageState(), into: &state) }
        self.state = state
        position = slowest?.sequence ?? 0
    }

    /// The last event passed to the projectors.
    package var reached: UInt64 { position }
    /// The last event that every projector has folded, committed or not.
    package var folded: UInt64 { behind.first.map { $0.batch.events.lowerBound.rawValue - 1 } ?? position }
    package var projectors: [Folder] { folders }

    /// Calls `hook` with the error that ends this pipeline, also if nobody waits for the projector that fails.
    package func onFailure(_ hook: @escaping @Sendable (any Error) -> Void) { failureHook = hook }

    /// Folds up to and including `target`, after all earlier requests.
    /// - Parameters:
    ///   - halts: where it pauses.
    ///   - reason: makes each projector commit its rows at the end, while others still fold; nil leaves that to `flush`.
    ///   - waits: whether every projector has folded all of it on return; otherwise a slow one may still be at work, and does not delay the
    ///     others when more events follow.
    package func fold(
        through target: UInt64, halts: FoldBarriers<Stage.Batch>? = nil, committing reason: FlushReason? = nil,
        waits: Bool = true,
        progress: (@Sendable (FoldProgress) -> Void)? = nil
    ) async throws {
        let previous = tail
        let work = Task {
            _ = try? await previous?.value  // its failure was thrown to its caller
            let start = self.position
            for halt in halts?.places(start, target) ?? [] {
                try await self.run(from: start, through: halt, of: target, waits: true, progress)
                try await halts?.visit(halt, self.folders)
            }
            try await self.run(from: start, through: target, of: target, committing: reason, waits: waits, progress)
        }
        tail = work
        try await work.value
    }

    /// - Parameter end: where the whole fold ends that began at `start`.
    private func run(
        from start: UInt64, through target: UInt64, of end: UInt64, committing reason: FlushReason? = nil, waits: Bool,
        _ progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws {
        guard !hasFailed else { throw FoldFailure() }
        var report: (@Sendable (UInt64) -> Void)?
        if let progress { report = { progress(FoldProgress(start: start, position: $0, target: end)) } }
        var ahead: [Task<Stage.Batch, any Error>] = []
        do {
            try await run(through: target, isFollowedByFlush: reason != nil || target < end, &ahead, report)
            if let reason { try await flush(reason) }
            while waits, let oldest = behind.first { try await oldest.whole.value }
        } catch {
            fail(error)
            for task in ahead { task.cancel() }
            for task in ahead { _ = await task.result }  // they read the log, which may be closed next
            for batch in behind { _ = await batch.whole.result }
            throw error
        }
    }

    private func fail(_ error: any Error) {
        guard !hasFailed else { return }
        hasFailed = true
        if !(error is CancellationError) { failureHook?(error) }  // otherwise it was stopped
    }

    /// - Parameter isFollowedByFlush: else the last batch leaves it to the debounce of each view when its rows are committed.
    private func run(
        through target: UInt64, isFollowedByFlush: Bool, _ ahead: inout [Task<Stage.Batch, any Error>],
        _ progress: (@Sendable (UInt64) -> Void)?
    ) async throws {
        let start = position
        let isCatchingUp = target > start + batchSize
        var next = start + 1
        while next <= target || !ahead.isEmpty {
            while ahead.count < Self.depthAhead && next <= target {
                let last = min(target, next + batchSize - 1)
                ahead.append(decode(next...last))
                next = last + 1
            }
            var batch = try await ahead[0].value
            ahead.removeFirst()
            stage.resolve(&batch, state: &state)
            position = batch.events.upperBound.rawValue
            hand(batch, isCatchingUp && (isFollowedByFlush || position < target))
            while let oldest = behind.first, isFarBehind { try await oldest.whole.value }
            progress?(position)
            try Task.checkCancellation()
        }
    }

    private func decode(_ events: ClosedRange<UInt64>) -> Task<Stage.Batch, any Error> {
        let stage = stage
        return Task(executorPreference: decoders) {
            try stage.decode(EventSequence(rawValue: events.lowerBound)...EventSequence(rawValue: events.upperBound))
        }
    }

    private func hand(_ batch: Stage.Batch, _ isCatchingUp: Bool) {
        var tasks: [String: Task<Void, any Error>] = [:]
        for folder in folders {
            let earlier = behind.last?.tasks[folder.viewName]
            tasks[folder.viewName] = Task {
                try await earlier?.value
                try await folder.fold(batch, isCatchingUp: isCatchingUp)
            }
        }
        let whole = Task { [tasks] in
            do {
                for task in tasks.values { try await task.value }
            } catch {
                for task in tasks.values { _ = await task.result }
                fail(error)
                throw error
            }
            behind.removeAll { $0.batch.events == batch.events }
            stage.recycle(batch)
        }
        behind.append(BatchBehind(batch: batch, tasks: tasks, whole: whole))
    }

    private var isFarBehind: Bool {
        guard let oldest = behind.first else { return false }
        let events = position - oldest.batch.events.lowerBound.rawValue + 1
        return behind.count >= Self.mostBehind || events >= Self.depthBehind * batchSize
    }

    /// Commits all pending rows of all projectors, of every batch that they were given before.
    ///
    /// The longest work first, so that no core is idle at the end.
    package func flush(_ reason: FlushReason) async throws {
        let folding = behind.last?.tasks ?? [:]
        var works: [(folder: Folder, work: Int)] = []
        for folder in folders { works.append((folder, await folder.pendingWork())) }
        works.sort { $0.work > $1.work }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, work) in works.enumerated() {
                if place >= coreCount { try await group.next() }
                group.addTask {
                    try await folding[work.folder.viewName]?.value
                    try await work.folder.flush(reason)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Takes over projectors of another pipeline that are exactly at this one's position.
    /// - Returns: false if this pipeline has moved on meanwhile.
    package func adopt(_ others: [Folder], at position: UInt64) -> Bool {
        guard position == self.position else { return false }
        folders += others
        return true
    }

    /// Stops giving batches to the projectors of these views, which commit what they have folded.
    package func dismiss(_ names: Set<String>) async throws {
        let leaving = folders.filter { names.contains($0.viewName) }
        folders.removeAll { names.contains($0.viewName) }
        let folding = behind.last?.tasks ?? [:]
        for folder in leaving {
            try await folding[folder.viewName]?.value
            try await folder.flush(.request)
            await folder.stop()
        }
    }

    /// Ends the fold at the next batch and waits for those under way. The projectors can still be flushed.
    package func stop() async {
        tail?.cancel()
        _ = await tail?.result
        for batch in behind { _ = await batch.whole.result }
        for folder in folders { await folder.stop() }
    }
}
