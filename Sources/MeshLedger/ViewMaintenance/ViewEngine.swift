import EventLog
import Foundation
import LMDB
import Logging
import MeshViews
import Meshtastic
import Projections

/// Maintains the views of a ledger that is open for writing: follows the log, and rebuilds stale views beside the served ones.
actor ViewEngine {
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
    let logger = Logger(label: "meshledger.views")
    /// What the engine does beside following the log. Only `enter` changes it.
    private(set) var activity = Activity.following
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var reporters: [Int: @Sendable (FoldProgress) -> Void] = [:]
    private var reporterCount = 0
    var live: FoldPipeline<MeshStage>?
    var liveMembers: [Member] = []
    /// What views there shall be, and with which keys, whatever becomes of their files.
    var wanted: (definitions: [ViewDefinition], keyring: Keyring) = ([], Keyring())
    /// Decodes the live views' events.
    var stage: MeshStage?
    /// Whether views that were taken down could not be started again.
    var hasFailedToStart = false
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
        guard !activity.isClosed else { return }
        do {
            try await foldLive(nil)
            failures.last = nil
        } catch {
            // Retried with the next commit, and logged once; callers that need current views get the error from `catchUp` and `flush`.
            if failures.last != "\(error)" { logger.notice("the views cannot follow the log: \(error)") }
            failures = (failures.count + 1, "\(error)")
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
                if live === pipeline, try await !takeUpAgain(after: error) { throw error }
            }
        }
    }

    /// After a failure (for example a full disk) the live views continue from what they had committed.
    func beginAgain(_ failed: FoldPipeline<MeshStage>) async throws {
        await failed.stop()
        guard let stage, live === failed else { return }
        try requireOwn(liveMembers)
        let fresh = try await pipeline(liveMembers, stage)
        await record(fresh)
        // Meanwhile another call may have started over, or a rebuilt view may have taken over.
        if live === failed { live = fresh }
    }

    /// If somebody has removed or replaced the files of views, takes up what is at their paths now, and builds what is missing.
    /// - Returns: whether it did.
    private func takeUpAgain(after error: any Error) async throws -> Bool {
        guard let storage = error as? StorageError, storage.code == .replaced, log.isInPlace, isIdle else { return false }
        logger.warning("a view's file was removed or replaced, and the views are taken up again: \(error)")
        let failed = activity.build
        let (pipeline, members) = (live, liveMembers + (failed?.members ?? []))
        enter(.restarting)
        (live, liveMembers) = (nil, [])
        await pipeline?.stop()
        await failed?.pipeline.stop()
        for member in members { member.store.supersede() }
        served.close(refusing: .superseded)
        do {
            try await start(wanted.definitions, keyring: wanted.keyring)
            hasFailedToStart = false
        } catch {
            hasFailedToStart = true  // files that are still being removed
            enter(.failed(nil, error))
            throw error
        }
        if case .restarting = activity { enter(.following) }
        return true
    }

    /// Called each second or more often: views whose files are gone, or are other files, are made again also while nothing comes.
    func lookAfterFiles() async {
        do {
            guard try await takeUpLost() else { return }
            // An older copy lacks events, and no commit of the log says so.
            await follow()
            if let live { try await live.flush(.request) }
        } catch {
            logger.notice("the views could not be taken up again, which is tried again: \(error)")
        }
    }

    /// Nothing is being built or erased.
    private var isIdle: Bool {
        switch activity {
        case .following, .failed: true
        case .building, .restarting, .erasing, .closed: false
        }
    }

    /// The same before the views count as complete: without anything to commit, the loss of a file would go unnoticed.
    /// - Returns: whether it did.
    func takeUpLost() async throws -> Bool {
        guard isIdle else { return false }
        let members = liveMembers + (activity.build?.members ?? [])
        let lost = members.first { !$0.store.environment.isInPlace }
        guard lost != nil || hasFailedToStart else { return false }
        let path = lost?.store.path ?? log.path + "/views"
        let error = StorageError(.replaced, call: "its file is another file or is gone", path: path)
        guard try await takeUpAgain(after: error) else { throw error }
        return true
    }

    /// Waits until every view has folded the whole log, and commits it.
    func settle(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        _ = try await takeUpLost()
        do {
            try await waitForBuild(progress)
        } catch {
            guard try await takeUpLost() else { throw error }
            try await waitForBuild(progress)
        }
        try await commitLive(progress)
    }

    /// Folds and commits the whole log. If a rebuilt view takes over meanwhile, which closes its old store, that one is folded and committed.
    private func commitLive(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        while true {
            try await foldLive(progress)
            guard let pipeline = live else {
                switch activity {
                // Another call takes the views up again.
                case .restarting, .building:
                    try await waitForBuild(progress)
                    continue
                default: return
                }
            }
            do {
                try await pipeline.flush(.request)
                if live === pipeline { return }
            } catch {
                if live === pipeline {
                    guard try await takeUpAgain(after: error) else { throw error }
                }
            }
        }
    }

    /// Waits until no view is built or erased. A build that was stopped because another replaces it, after an erasure or with other keys, is not the end.
    ///
    /// - Throws: what ended the build, to the first who asks.
    func waitForBuild(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        let reporter = reporterCount
        reporterCount += 1
        reporters[reporter] = progress
        defer { reporters[reporter] = nil }
        while true {
            switch activity {
            case .following, .failed(_, nil): return
            case .failed(let build, let problem?):
                enter(.failed(build, nil))
                throw problem
            case .closed: throw closedError
            case .building, .restarting, .erasing: await nextActivity()
            }
        }
    }

    /// Commits all appended events to the views that answer now. Waits for a build only if no views exist yet.
    func flush() async throws {
        guard try await !takeUpLost(), live != nil else { return try await settle(nil) }
        try await commitLive(nil)
    }

    /// The last event that all live views have folded, committed or not; nil before there are any.
    var foldedThrough: UInt64? {
        get async {
            var least: UInt64?
            for folder in await live?.projectors ?? [] { least = min(least ?? .max, await folder.checkpoint().sequence) }
            return least
        }
    }

    func note(_ progress: FoldProgress) {
        activity.build?.progress = progress
        for report in reporters.values { report(progress) }
    }

    func progress(of view: String) -> Double? {
        guard let build = activity.build, build.members.contains(where: { $0.definition.name == view }) else { return nil }
        return build.progress?.fraction ?? 0
    }

    /// Why the last commit of a view failed; nil if that of none did. It is tried again until it succeeds.
    var commitFailure: String? {
        get async {
            for folder in await live?.projectors ?? [] {
                if let error = await folder.statistics().lastError { return error }
            }
            return nil
        }
    }

    func statistics() async -> [String: ProjectorStatistics] {
        var all: [String: ProjectorStatistics] = [:]
        for folder in await live?.projectors ?? [] { all[folder.viewName] = await folder.statistics() }
        return all
    }

    /// Ends the fold of the live views where it is; a later one goes on from there.
    func endFolding() async { await live?.end() }

    /// How many events the live views have not folded.
    var lag: UInt64 {
        get async {
            let head = log.head.rawValue
            guard let reached = await live?.reached else { return 0 }
            return head - min(reached, head)
        }
    }

    func close() async throws {
        await waitForErasure()
        guard !activity.isClosed else { return }
        let build = activity.build
        enter(.closed)
        defer { for member in liveMembers { member.store.close() } }
        if let build { try await stop(build) }
        try await foldLive(nil)
        try await live?.flush(.close)
        await live?.stop()
    }

    var closedError: LedgerError { .closed(log.path) }

    // MARK: Activity

    /// Every change of the activity, for tasks that wait for one.
    func enter(_ next: Activity) {
        activity = next
        let waiters = waiters
        self.waiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }

    private func nextActivity() async {
        await withCheckedContinuation { waiters.append($0) }
    }

    func waitForErasure() async {
        while case .erasing = activity { await nextActivity() }
    }
}
