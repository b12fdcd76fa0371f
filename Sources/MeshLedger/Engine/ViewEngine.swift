import EventLog
import Foundation
import LMDB
import Logging
import MeshViews
import Meshtastic
import Projections

/// Maintains the views of a ledger that is open for writing: follows the log, and rebuilds stale views beside the served ones.
actor ViewEngine {
    struct Build {
        var pipeline: FoldPipeline<MeshStage>
        var stage: MeshStage
        var members: [Member]
        var replacesLive: Bool
    }

    struct Member {
        var definition: ViewDefinition
        var store: ViewStore
        var folderName: String
    }

    let log: EventLog
    let served: ServedViews
    let baselines: ViewBaselines
    let erased: ErasedViews
    /// How many of the last changes each view keeps.
    let changesKept: Int
    /// Stale views that are not rebuilt automatically.
    let held: Set<String>
    /// Views whose old recipe is kept when the new one is swapped in.
    var keeping: Set<String> = []
    /// The policy for copies of earlier states.
    let past: HistoricalPolicy
    /// Runs while events are erased and no views exist.
    var erasure: Task<ErasureReport, any Error>?
    let logger = Logger(label: "meshledger.views")
    var live: FoldPipeline<MeshStage>?
    var liveMembers: [Member] = []
    /// Decodes the live views' events.
    var stage: MeshStage?
    var build: Build?
    var buildTask: Task<Void, any Error>?
    var buildProgress: FoldProgress?
    /// Whether a build was stopped for another one that has not begun.
    var isRestarting = false
    var isClosed = false
    private(set) var failures: (count: UInt64, last: String?) = (0, nil)

    init(log: EventLog, served: ServedViews, erased: ErasedViews, changesKept: Int, held: Set<String>, past: HistoricalPolicy) {
        self.held = held
        self.past = past
        self.changesKept = changesKept
        self.log = log
        self.served = served
        self.erased = erased
        baselines = ViewBaselines(log: log)
    }

    /// Folds the part of the log that the views lack. Called for every commit of the log.
    func follow() async {
        guard !isClosed else { return }
        do {
            try await foldLive(nil)
            failures.last = nil
        } catch {
            failures = (failures.count + 1, "\(error)")
            // Retried with the next commit; callers that need current views get the error from `catchUp` and `flush`.
            logger.notice("the views cannot follow the log: \(error)")
        }
    }

    /// A fold that ended because a rebuilt view took over continues with that one.
    func foldLive(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        while let pipeline = live {
            do {
                if await pipeline.hasFailed {
                    try await beginAgain(pipeline)
                    continue
                }
                return try await fold(pipeline, liveMembers, through: log.head.rawValue, progress: progress)
            } catch {
                if live === pipeline { throw error }
            }
        }
    }

    /// After a failure (for example a full disk) the live views continue from what they had committed.
    func beginAgain(_ failed: FoldPipeline<MeshStage>) async throws {
        await failed.stop()
        guard let stage, live === failed else { return }
        let fresh = try await pipeline(liveMembers, stage)
        await record(fresh)
        // Meanwhile another call may have started over, or a rebuilt view may have taken over.
        if live === failed { live = fresh }
    }

    /// Waits until every view has folded the whole log, and commits it.
    func settle(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        try await waitForBuild(progress)
        try await commitLive(progress)
    }

    /// Folds and commits the whole log. If a rebuilt view takes over meanwhile, which closes its old store, that one is folded and committed.
    private func commitLive(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        while true {
            try await foldLive(progress)
            guard let pipeline = live else { return }
            do {
                try await pipeline.flush(.request)
                if live === pipeline { return }
            } catch {
                if live === pipeline { throw error }
            }
        }
    }

    /// A build that was stopped because another replaces it, after an erasure or with other keys, is not the end.
    func waitForBuild(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        while true {
            while let erasure { _ = try? await erasure.value }  // its caller received the error
            guard let task = buildTask else {
                guard isRestarting else { return }
                try await Task.sleep(for: .milliseconds(1))
                continue
            }
            let reporter = progress.map { report in Task { await self.report(report) } }
            let result = await task.result
            reporter?.cancel()
            guard task.isCancelled else {
                if buildTask == task { buildTask = nil }  // otherwise another one was started meanwhile
                return try result.get()
            }
            guard !isClosed else { throw LedgerError(.closed, path: log.path, "\(log.path): it has been closed; open it again") }
            if buildTask == task { try await Task.sleep(for: .milliseconds(1)) }  // the caller that stopped it removes it
        }
    }

    /// Commits all appended events to the views that answer now. Waits for a build only if no views exist yet.
    func flush() async throws {
        guard live != nil else { return try await settle(nil) }
        try await commitLive(nil)
    }

    func report(_ progress: @Sendable (FoldProgress) -> Void) async {
        while !Task.isCancelled && build != nil {
            if let buildProgress { progress(buildProgress) }
            do {
                try await Task.sleep(for: .milliseconds(100))
            } catch {
                return  // cancelled: the build is done
            }
        }
    }

    func progress(of view: String) -> Double? {
        guard let build, build.members.contains(where: { $0.definition.name == view }) else { return nil }
        return buildProgress?.fraction ?? 0
    }

    func statistics() async -> [String: ProjectorStatistics] {
        var all: [String: ProjectorStatistics] = [:]
        for folder in await live?.projectors ?? [] { all[folder.viewName] = await folder.statistics() }
        return all
    }

    func close() async throws {
        guard !isClosed else { return }
        while let erasure { _ = try? await erasure.value }  // its caller received the error
        isClosed = true
        defer { for member in liveMembers { member.store.close() } }
        try await cancelBuild()
        try await foldLive(nil)
        try await live?.flush(.close)
        await live?.stop()
    }
}
