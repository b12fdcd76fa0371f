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

/// A pipeline that was stopped was asked to continue.
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
    /// Why a batch was not folded by every projector, or that the fold was stopped.
    private var failure: (any Error)?
    /// Whether the next fold has to start from the stored checkpoints, in another pipeline.
    package var hasFailed: Bool { failure != nil }
    /// Whether folds end after the batches that are being decoded.
    private var isEnding = false

    /// How many batches may be decoded ahead.
    private static var depthAhead: Int { 3 }
    /// How many batches may wait for the slowest projector: enough for the others to continue while one commits.
    private static var depthBehind: Int { 12 }

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
    package var projectors: [Folder] { folders }

    /// Folds up to and including `target`, after all earlier requests.
    /// - Parameters:
    ///   - halts: where it pauses.
    ///   - reason: makes each projector commit its rows at the end, while others still fold; nil leaves that to `flush`.
    package func fold(
        through target: UInt64, halts: FoldBarriers<Stage.Batch>? = nil, committing reason: FlushReason? = nil,
        progress: (@Sendable (FoldProgress) -> Void)? = nil
    ) async throws {
        let previous = tail
        let work = Task {
            _ = try? await previous?.value  // its failure was thrown to its caller
            let start = self.position
            for halt in halts?.places(start, target) ?? [] {
                try await self.run(from: start, through: halt, of: target, progress)
                guard !self.isEnding else { return }
                try await halts?.visit(halt, self.folders)
            }
            try await self.run(from: start, through: target, of: target, committing: reason, progress)
        }
        tail = work
        try await work.value
    }

    /// - Parameter end: where the whole fold ends that began at `start`.
    private func run(
        from start: UInt64, through target: UInt64, of end: UInt64, committing reason: FlushReason? = nil,
        _ progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws {
        // Folds that waited for the one that failed say why, too.
        if let failure { throw failure is CancellationError ? FoldFailure() : failure }
        var report: (@Sendable (UInt64) -> Void)?
        if let progress { report = { progress(FoldProgress(start: start, position: $0, target: end)) } }
        var ahead: [Task<Stage.Batch, any Error>] = []
        var folding: [[String: Task<Void, any Error>]] = []
        do {
            try await run(through: target, isFollowedByFlush: reason != nil || target < end, &ahead, &folding, report)
            if let reason { try await flush(reason, after: folding.last ?? [:]) }
            for group in folding { for task in group.values { try await task.value } }
        } catch {
            failure = error
            for task in ahead { task.cancel() }
            for task in ahead { _ = await task.result }  // they read the log, which may be closed next
            for group in folding { for task in group.values { _ = await task.result } }
            throw error
        }
    }

    /// - Parameter isFollowedByFlush: else the last batch leaves it to the debounce of each view when its rows are committed.
    private func run(
        through target: UInt64, isFollowedByFlush: Bool, _ ahead: inout [Task<Stage.Batch, any Error>],
        _ folding: inout [[String: Task<Void, any Error>]],
        _ progress: (@Sendable (UInt64) -> Void)?
    ) async throws {
        let start = position
        let isCatchingUp = target > start + batchSize
        var next = start + 1
        var handed: [Stage.Batch] = []
        while (next <= target && !isEnding) || !ahead.isEmpty {
            while ahead.count < Self.depthAhead && next <= target && !isEnding {
                let last = min(target, next + batchSize - 1)
                ahead.append(decode(next...last))
                next = last + 1
            }
            var batch = try await ahead[0].value
            ahead.removeFirst()
            stage.resolve(&batch, state: &state)
            position = batch.events.upperBound.rawValue
            folding.append(hand(batch, after: folding.last, isCatchingUp && (isFollowedByFlush || position < target)))
            handed.append(batch)
            if folding.count >= Self.depthBehind {
                for task in folding[0].values { try await task.value }
                folding.removeFirst()
                stage.recycle(handed.removeFirst())
            }
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

    /// A chain of tasks for each projector keeps its batches in order.
    private func hand(
        _ batch: Stage.Batch, after previous: [String: Task<Void, any Error>]?, _ isCatchingUp: Bool
    ) -> [String: Task<Void, any Error>] {
        var tasks: [String: Task<Void, any Error>] = [:]
        for folder in folders {
            let earlier = previous?[folder.viewName]
            tasks[folder.viewName] = Task {
                try await earlier?.value
                try await folder.fold(batch, isCatchingUp: isCatchingUp)
            }
        }
        return tasks
    }

    /// Commits all pending rows of all projectors.
    package func flush(_ reason: FlushReason) async throws { try await flush(reason, after: [:]) }

    /// The longest work first, so that no core is idle at the end.
    /// - Parameter folding: by name, the fold that a projector has to finish first.
    private func flush(_ reason: FlushReason, after folding: [String: Task<Void, any Error>]) async throws {
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

    /// Stops giving batches to the projectors of these views.
    package func dismiss(_ names: Set<String>) {
        folders.removeAll { names.contains($0.viewName) }
    }

    /// Ends folds, this one and later ones, after the batches that are being decoded: the projectors have folded the log up to `reached`.
    package func end() { isEnding = true }

    /// Ends the fold at the next batch and waits for those under way. The projectors can still be flushed.
    package func stop() async {
        tail?.cancel()
        _ = await tail?.result
        for folder in folders { await folder.stop() }
    }
}
