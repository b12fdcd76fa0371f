import EventLog
import Foundation
import LMDB
import Logging
import Meshtastic
import Projections

/// Keeps the views of a ledger that is open for writing: follows the log, and rebuilds what is stale beside what is served.
actor ViewEngine {
    private struct Build {
        var pipeline: FoldPipeline<MeshStage>
        var stage: MeshStage
        var members: [Member]
        var replacesLive: Bool
    }

    private struct Member {
        var definition: ViewDefinition
        var store: ViewStore
        var folderName: String
    }

    private let log: EventLog
    private let served: ServedViews
    private let baselines: ViewBaselines
    private let erased: ErasedViews
    /// How many of the last changes each view keeps.
    private let changesKept: Int
    /// Under way while events are erased and no view is kept.
    private var erasure: Task<ErasureReport, any Error>?
    private let logger = Logger(label: "meshledger.views")
    private var live: FoldPipeline<MeshStage>?
    private var liveMembers: [Member] = []
    /// How the live views' events are decoded.
    private var stage: MeshStage?
    private var build: Build?
    private var buildTask: Task<Void, any Error>?
    private var buildProgress: FoldProgress?
    /// Whether a build was stopped for another one that has not begun.
    private var isRestarting = false
    private var isClosed = false
    private(set) var failures: (count: UInt64, last: String?) = (0, nil)

    init(log: EventLog, served: ServedViews, erased: ErasedViews, changesKept: Int) {
        self.changesKept = changesKept
        self.log = log
        self.served = served
        self.erased = erased
        baselines = ViewBaselines(log: log)
    }

    // MARK: Start

    /// Takes up every view where it is: current ones go on from their checkpoints, the others are built beside.
    func start(_ definitions: [ViewDefinition], keyring: Keyring) async throws {
        try erased.removeStale(log)
        try baselines.finishForgetting()
        let stage = MeshStage(log: log, keyring: keyring)
        self.stage = stage
        var current: [Member] = []
        var stale: [Member] = []
        for definition in definitions {
            let folder = served.folder(definition.name)
            let name = folder.current()
            if let name, Self.recipe(ofFolder: name) == definition.recipe.identifier,
                let member = try usable(definition, folderName: name)
            {
                served.serve(member.store, as: name, for: definition.name)
                current.append(member)
            } else {
                if let name { try serveOld(definition, folderName: name) }
                stale.append(try fresh(definition, beside: name))
            }
        }
        if !current.isEmpty {
            let pipeline = try await pipeline(current, stage)
            for member in current { try member.store.beginFeed() }
            await record(pipeline)
            try await pipeline.flush(.request)  // builds indexes that the views do not have yet
            live = pipeline
            liveMembers = current
        }
        if !stale.isEmpty { try await begin(stale, stage, replacesLive: current.isEmpty) }
    }

    private static func recipe(ofFolder name: String) -> String { String(name.prefix { $0 != "." }) }

    /// Opens the view's store if its checkpoint lies in this log; a view that has seen what the log does not hold is dropped.
    private func usable(_ definition: ViewDefinition, folderName: String) throws -> Member? {
        let folder = served.folder(definition.name)
        let store: ViewStore
        do throws(StorageError) {
            store = try ViewStore.open(
                at: folder.store(folderName), recipe: definition.recipe, tables: definition.tables, indexes: definition.indexes,
                access: .readWrite)
        } catch {
            guard [.corrupt, .otherVersion, .missing, .malformedValue].contains(error.code) else { throw error }
            logger.warning("the view \(definition.name) cannot be used and is built again: \(error)")
            try folder.remove(folderName)
            return nil
        }
        let (checkpoint, cut) = (try store.checkpoint(), log.first.rawValue - 1)
        if checkpoint == .start && cut == 0 { return Member(definition: definition, store: store, folderName: folderName) }
        let known = checkpoint.sequence < cut ? nil : try log.checksum(of: EventSequence(rawValue: checkpoint.sequence))
        if known == checkpoint.checksum { return Member(definition: definition, store: store, folderName: folderName) }
        if checkpoint.sequence < cut {
            logger.notice("the view \(definition.name) stands before the first event that is kept and begins with its baseline")
        } else {
            logger.warning("the view \(definition.name) has seen events that the log does not hold and is built again")
        }
        store.close()
        try folder.remove(folderName)
        return nil
    }

    /// The store of a build: an unfinished one is taken up again.
    private func fresh(_ definition: ViewDefinition, beside served: String?) throws -> Member {
        let folder = self.served.folder(definition.name)
        try folder.create()
        let identifier = definition.recipe.identifier
        for name in folder.recipes() where Self.recipe(ofFolder: name) == identifier && name != served {
            if let member = try usable(definition, folderName: name) { return member }
        }
        var generation = 1
        if let served, Self.recipe(ofFolder: served) == identifier {
            generation = (Int(served.split(separator: ".").last ?? "") ?? 1) + 1
        }
        let name = generation == 1 ? identifier : "\(identifier).\(generation)"
        let store = try baselines.store(definition, at: folder.store(name))
        return Member(definition: definition, store: store, folderName: name)
    }

    /// A stale view goes on answering while its successor is built.
    private func serveOld(_ definition: ViewDefinition, folderName: String) throws {
        let path = served.folder(definition.name).store(folderName)
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            let store = try ViewStore.open(
                at: path, recipe: definition.recipe, tables: definition.tables, indexes: definition.indexes, access: .readOnly)
            served.serve(store, as: folderName, for: definition.name)
        } catch {
            logger.warning("the old view \(definition.name) cannot be read: \(error)")
        }
    }

    private func pipeline(_ members: [Member], _ stage: MeshStage) async throws -> FoldPipeline<MeshStage> {
        // The state of earlier packets comes from the first of those that stand at the same event: not from one that has lost it.
        let (whole, lossy) = (try members.filter { try $0.store.lost() == 0 }, try members.filter { try $0.store.lost() > 0 })
        return try await FoldPipeline(stage: stage, folders: (whole + lossy).map { try $0.definition.start($0.store) })
    }

    // MARK: Building

    private func begin(_ members: [Member], _ stage: MeshStage, replacesLive: Bool) async throws {
        build = Build(
            pipeline: try await pipeline(members, stage), stage: stage, members: members, replacesLive: replacesLive)
        buildTask = Task { try await self.runBuild() }
    }

    private func runBuild() async throws {
        guard let build else { return }
        while !Task.isCancelled {
            let target = log.head.rawValue
            try await build.pipeline.fold(through: target) { progress in
                Task { await self.note(progress) }
            }
            try await build.pipeline.flush(.request)
            let reached = await build.pipeline.reached
            if build.replacesLive || live == nil {
                let (oldPipeline, oldMembers) = (live, liveMembers)
                (live, liveMembers, stage) = (build.pipeline, build.members, build.stage)
                // Nobody changes the old views any more, and every change of the new ones is noted.
                await oldPipeline?.stop()
                await record(build.pipeline)
                try swap(build.members)
                finishBuild()
                for member in oldMembers { member.store.close() }
                return
            }
            guard let live else { return }
            await record(build.pipeline)
            if await live.adopt(build.pipeline.projectors, at: reached) {
                liveMembers += build.members
                try swap(build.members)
                return finishBuild()
            }
            try await live.flush(.request)
        }
    }

    private func record(_ pipeline: FoldPipeline<MeshStage>) async {
        for folder in await pipeline.projectors { await folder.recordChanges(keeping: changesKept) }
    }

    private func note(_ progress: FoldProgress) { buildProgress = progress }

    private func finishBuild() {
        build = nil
        buildProgress = nil
    }

    /// From here on readers see the new views; the old ones' files go.
    private func swap(_ members: [Member]) throws {
        for member in members {
            let folder = served.folder(member.definition.name)
            try continueFeed(member)
            try folder.serve(member.folderName)
            served.serve(member.store, as: member.folderName, for: member.definition.name)
            for name in folder.recipes() where name != member.folderName { try folder.remove(name) }
        }
    }

    /// Whoever reads a view's changes need not begin again when it was built anew.
    private func continueFeed(_ member: Member) throws {
        let old: ViewStore?
        do throws(StorageError) {
            old = try served.store(member.definition)
            guard let old, old.path != member.store.path else { return try member.store.beginFeed() }
            try member.store.continueFeed(of: old, tables: member.definition.rowTables, keeping: changesKept)
        } catch {
            guard [.corrupt, .malformedValue, .noSuchTable, .closed, .missing].contains(error.code) else { throw error }
            logger.notice("whoever follows the changes of the view \(member.definition.name) has to begin again: \(error)")
            try member.store.beginFeed()
        }
    }

    /// Builds the named views anew from the first event, beside the served ones.
    func rebuild(
        _ definitions: [ViewDefinition], of all: [ViewDefinition], keyring: Keyring,
        progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws {
        try await settle(nil)
        let names = Set(definitions.map(\.name))
        let members = try definitions.map { try fresh($0, beside: served.folder($0.name).current()) }
        if names.count < all.count { try await leaveLive(names) }
        try await begin(members, MeshStage(log: log, keyring: keyring), replacesLive: names.count == all.count)
        try await settle(progress)
    }

    /// Other keys: every view is built anew with them, while the ones that there are go on following and answering.
    func restart(_ definitions: [ViewDefinition], keyring: Keyring) async throws {
        while let erasure { _ = try? await erasure.value }  // it was told to whoever asked for it
        isRestarting = true
        defer { isRestarting = false }
        try await cancelBuild()
        let stage = MeshStage(log: log, keyring: keyring)
        let members = try definitions.map { try fresh($0, beside: served.folder($0.name).current()) }
        try await begin(members, stage, replacesLive: true)
    }

    /// Leaves an unfinished build where it is; its files are taken up again or removed by a later one.
    private func cancelBuild() async throws {
        guard let build else { return }
        buildTask?.cancel()
        await build.pipeline.stop()
        _ = await buildTask?.result
        buildTask = nil
        guard self.build != nil else { return }  // it had finished just before
        try await build.pipeline.flush(.close)
        for member in build.members { member.store.close() }
        finishBuild()
    }

    /// Views that are built anew leave the live pipeline: their old rows are served as they are until the swap.
    private func leaveLive(_ names: Set<String>) async throws {
        guard let live else { return }
        for folder in await live.projectors where names.contains(folder.viewName) {
            try await folder.flush(.request)
            await folder.stop()
        }
        await live.dismiss(names)
        liveMembers.removeAll { names.contains($0.definition.name) }
    }

    // MARK: Erasing

    /// Runs `work`, which erases events, while no view is kept; then all views are begun anew.
    /// - Parameter forgotten: whose rows leave the baselines of dropped events.
    func erase(
        _ definitions: [ViewDefinition], keyring: Keyring, forgetting forgotten: ForgottenNode?,
        _ work: @escaping @Sendable () async throws -> ErasureReport
    ) async throws -> ErasureReport {
        while let erasure { _ = try? await erasure.value }  // it was told to whoever asked for it
        let task = Task {
            defer { erasure = nil }
            return try await runErasure(definitions, keyring: keyring, forgotten, work)
        }
        erasure = task
        return try await task.value
    }

    private func runErasure(
        _ definitions: [ViewDefinition], keyring: Keyring, _ forgotten: ForgottenNode?,
        _ work: @Sendable () async throws -> ErasureReport
    ) async throws -> ErasureReport {
        try await cancelBuild()
        let (pipeline, members) = (live, liveMembers)
        (live, liveMembers) = (nil, [])
        await pipeline?.stop()
        for member in members { member.store.close() }
        served.close()
        do {
            if let forgotten, try await baselines.forget(forgotten) { try erased.removeAll() }
            let report = try await work()
            try await start(definitions, keyring: keyring)
            return report
        } catch {
            // Where it was begun, the views from before it are of no use all the same.
            if !isClosed { try await start(definitions, keyring: keyring) }
            throw error
        }
    }

    // MARK: Retention

    /// Lets the views make baselines of all events up to `last`, and drops these events. Nothing else may begin to build views meanwhile.
    func retain(
        through last: UInt64, _ definitions: [ViewDefinition], keyring: Keyring, keeping checkpoints: [UInt64],
        progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws -> Retention {
        try await settle(nil)
        let made = try await baselines.make(definitions, keyring: keyring, through: last, progress: progress)
        let done = try await log.cut(through: EventSequence(last), baselines: made, keeping: checkpoints)
        baselines.folder.removeAll(but: last)
        return done.retention
    }

    // MARK: Following

    /// Folds what the log has beyond the views. Called for every commit of the log.
    func follow() async {
        guard !isClosed else { return }
        do {
            try await foldLive(nil)
            failures.last = nil
        } catch {
            failures = (failures.count + 1, "\(error)")
            // Tried again with the next commit; whoever needs the views up to date is told by what `catchUp` and `flush` throw.
            logger.notice("the views cannot follow the log: \(error)")
        }
    }

    /// A fold that ends because a rebuilt view took over goes on with that.
    private func foldLive(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        while let pipeline = live {
            if await pipeline.hasFailed {
                try await beginAgain(pipeline)
                continue
            }
            do {
                return try await pipeline.fold(through: log.head.rawValue, progress: progress)
            } catch {
                if live === pipeline { throw error }
            }
        }
    }

    /// After a failure (a full disk, say) the live views go on from what they had committed.
    private func beginAgain(_ failed: FoldPipeline<MeshStage>) async throws {
        await failed.stop()
        guard let stage, live === failed else { return }
        let fresh = try await pipeline(liveMembers, stage)
        await record(fresh)
        // Somebody else may have begun again meanwhile, or a rebuilt view have taken over.
        if live === failed { live = fresh }
    }

    /// Waits until every view has folded the whole log, and commits it.
    func settle(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        try await waitForBuild(progress)
        try await foldLive(progress)
        try await live?.flush(.request)
    }

    /// A build that was stopped because another takes its place, after an erasure or with other keys, is not the end.
    private func waitForBuild(_ progress: (@Sendable (FoldProgress) -> Void)?) async throws {
        while true {
            while let erasure { _ = try? await erasure.value }  // it was told to whoever asked for it
            guard let task = buildTask else {
                guard isRestarting else { return }
                try await Task.sleep(for: .milliseconds(1))
                continue
            }
            let reporter = progress.map { report in Task { await self.report(report) } }
            let result = await task.result
            reporter?.cancel()
            guard task.isCancelled else {
                if buildTask == task { buildTask = nil }  // else somebody has begun another meanwhile
                return try result.get()
            }
            guard !isClosed else { throw LedgerError(.closed, path: log.path, "\(log.path): it has been closed; open it again") }
            if buildTask == task { try await Task.sleep(for: .milliseconds(1)) }  // whoever stopped it takes it away
        }
    }

    /// Commits what is appended to the views that answer now. Waits for a build only where there are none yet.
    func flush() async throws {
        guard live != nil else { return try await settle(nil) }
        try await foldLive(nil)
        try await live?.flush(.request)
    }

    private func report(_ progress: @Sendable (FoldProgress) -> Void) async {
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
        while let erasure { _ = try? await erasure.value }  // it was told to whoever asked for it
        isClosed = true
        defer { for member in liveMembers { member.store.close() } }
        try await cancelBuild()
        try await foldLive(nil)
        try await live?.flush(.close)
        await live?.stop()
    }
}
