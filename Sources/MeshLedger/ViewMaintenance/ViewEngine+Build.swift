import EventLog
import Foundation
import LMDB
import Logging
import MeshViews
import Meshtastic
import Projections

extension ViewEngine {
    func begin(_ members: [Member], _ stage: MeshStage, replacesLive: Bool) async throws {
        let build = Build(
            pipeline: try await pipeline(members, stage), stage: stage, members: members, replacesLive: replacesLive)
        enter(.building(build))
        build.task = Task { await run(build) }
    }

    private func run(_ build: Build) async {
        do {
            try await fold(build)
        } catch {
            guard case .building(let current) = activity, current === build else { return }  // what stopped it goes on
            enter(.failed(build.hasTakenOver ? nil : build, error))
            return
        }
        if case .building(let current) = activity, current === build { enter(.following) }
    }

    /// Folds the log until the built views can follow it, and serves them; returns before, where the task is cancelled.
    private func fold(_ build: Build) async throws {
        while !Task.isCancelled {
            let target = log.head.rawValue
            try await fold(build.pipeline, build.members, through: target, committing: .request) { progress in
                Task { await self.note(progress) }
            }
            let reached = await build.pipeline.reached
            if build.replacesLive || live == nil {
                let (oldPipeline, oldMembers) = (live, liveMembers)
                (live, liveMembers, stage) = (build.pipeline, build.members, build.stage)
                // The old views no longer change, and every change of the new ones is recorded.
                await oldPipeline?.stop()
                await record(build.pipeline)
                build.hasTakenOver = true
                try swap(build.members)
                for member in oldMembers { member.store.supersede() }
                return
            }
            guard let live else { return }
            await record(build.pipeline)
            if await live.adopt(build.pipeline.projectors, at: reached) {
                liveMembers += build.members
                build.hasTakenOver = true
                return try swap(build.members)
            }
            // The live views may be behind, as after a crash, and no caller makes them follow.
            try await foldLive(nil)
            try await live.flush(.request)
        }
    }

    /// Ends a build and leaves its files, which a later build continues or removes. Does nothing where its views have just taken over.
    func stop(_ build: Build) async throws {
        build.task?.cancel()
        await build.pipeline.stop()
        await build.task?.value
        guard !build.hasTakenOver else { return }
        try await build.pipeline.flush(.close)
        for member in build.members { member.store.close() }
    }

    func record(_ pipeline: FoldPipeline<MeshStage>) async {
        let commits = served.commits
        for folder in await pipeline.projectors { await folder.recordChanges(keeping: changesKept) { commits.raise() } }
    }

    /// From here on readers see the new views; the old ones' files are removed, unless they are to be kept.
    func swap(_ members: [Member]) throws {
        for member in members {
            let folder = served.folder(member.definition.name)
            try continueFeed(member)
            if keeping.remove(member.definition.name) != nil, let old = folder.current(), old != member.folderName {
                try folder.setKept([old])
            } else if folder.kept().contains(member.folderName) {
                try folder.setKept(folder.kept().filter { $0 != member.folderName })
            }
            try folder.serve(member.folderName)
            try folder.setPinned(false)
            served.serve(member.store, as: member.folderName, for: member.definition.name)
            try folder.removeOthers(than: member.folderName)
        }
    }

    /// Consumers of a view's changes need not start over after a rebuild.
    func continueFeed(_ member: Member) throws {
        let old: ViewStore?
        do throws(StorageError) {
            old = try served.store(member.definition)
            guard let old, old.path != member.store.path else { return try member.store.beginFeed() }
            try member.store.continueFeed(of: old, tables: member.definition.rowTables, keeping: changesKept)
        } catch {
            guard [.corrupt, .malformedValue, .noSuchTable, .closed, .superseded, .missing].contains(error.code) else {
                throw error
            }
            logger.notice("consumers of the changes of the view \(member.definition.name) have to start again: \(error)")
            try member.store.beginFeed()
        }
    }
}
