import EventLog
import Foundation
import LMDB
import Logging
import MeshViews
import Meshtastic
import Projections

extension ViewEngine {
    /// Starts every view from its present state: current ones continue from their checkpoints, the others are rebuilt beside the old ones.
    func start(_ definitions: [ViewDefinition], keyring: Keyring) async throws {
        wanted = (definitions, keyring)
        try erased.removeStale(log)
        SpooledRecording.removeAbandoned(in: log.path)
        try await baselines.finishErasures()
        do {
            try baselines.removeAbandoned()
        } catch {
            // An erasure insists on it.
            logger.warning("what an interrupted cut has left could not be removed: \(LedgerError(error, path: log.path))")
        }
        try removeErasedCopies(definitions)
        let stage = MeshStage(log: log, keyring: keyring)
        self.stage = stage
        var current: [Member] = []
        var stale: [Member] = []
        try refuseNewer(definitions)
        for definition in definitions {
            let folder = served.folder(definition.name)
            try folder.requireReadable()
            var name = folder.current()
            if let name, folder.isPinned, FileManager.default.fileExists(atPath: folder.store(name)) {
                try serveOld(definition, folderName: name)
                continue
            }
            if let old = name { name = try takeOver(definition, from: old) }
            do {
                if let name, Self.recipe(ofFolder: name) == definition.recipe.identifier,
                    let member = try usable(definition, folderName: name)
                {
                    try checkLayout(member)
                    served.serve(member.store, as: name, for: definition.name)
                    current.append(member)
                    continue
                }
                if let name { try serveOld(definition, folderName: name) }
                guard name == nil || !held.contains(definition.name) else { continue }
                stale.append(try fresh(definition, beside: name))
            } catch let error as LedgerError where error.isOfBaseline(in: log.path) {
                logger.warning("\(error.description)")
                if let name, try served.store(definition) == nil { try serveOld(definition, folderName: name, unlessEmpty: true) }
            }
        }
        if !current.isEmpty {
            let pipeline = try await pipeline(current, stage)
            for member in current { try member.store.beginFeed() }
            await record(pipeline)
            try await pipeline.flush(.request)  // builds indexes that the views lack
            live = pipeline
            liveMembers = current
        }
        if !stale.isEmpty { try await begin(stale, stage, replacesLive: current.isEmpty) }
    }

    static func recipe(ofFolder name: String) -> String { String(name.prefix { $0 != "." }) }

    /// Opens the view's store if its checkpoint is in this log; a view that has folded events which the log does not contain is dropped.
    func usable(_ definition: ViewDefinition, folderName: String) throws -> Member? {
        let folder = served.folder(definition.name)
        let store: ViewStore
        do throws(StorageError) {
            store = try ViewStore.open(
                at: folder.store(folderName), recipe: definition.recipe, tables: definition.tables, indexes: definition.indexes,
                access: .readWrite)
        } catch {
            guard [.corrupt, .otherVersion, .missing, .malformedValue].contains(error.code) else { throw error }
            logger.warning("the view \(definition.name) cannot be used and is rebuilt: \(error)")
            try folder.remove(folderName)
            return nil
        }
        let checkpoint = try store.checkpoint()
        if try isOfThisLog(checkpoint) { return Member(definition: definition, store: store, folderName: folderName) }
        if checkpoint.sequence < log.first.rawValue - 1 {
            do {
                try baselines.requireBaselines([definition])
            } catch {
                store.close()
                throw error
            }
            logger.notice("the view \(definition.name) ends before the first event that is kept and restarts from its baseline")
        } else {
            logger.warning("the view \(definition.name) has folded events that the log does not contain and is rebuilt")
        }
        store.close()
        try folder.remove(folderName)
        return nil
    }

    /// Whether a view that has folded the log so far can go on with the next event.
    private func isOfThisLog(_ checkpoint: Checkpoint) throws(EventLogError) -> Bool {
        let cut = log.first.rawValue - 1
        if checkpoint == .start && cut == 0 { return true }
        let known = checkpoint.sequence < cut ? nil : try log.checksum(of: EventSequence(rawValue: checkpoint.sequence))
        return known == checkpoint.checksum
    }

    /// Refuses to go on with a view whose file may have become that of another ledger.
    func requireOwn(_ members: [Member]) throws {
        for member in members where try !isOfThisLog(member.store.checkpoint()) {
            throw StorageError(.replaced, call: "the view of another log was written over its file", path: member.store.path)
        }
    }

    /// The store of a build: an unfinished or kept one is continued, unless the view is to be folded from the first event.
    func fresh(_ definition: ViewDefinition, beside served: String?, fromFirst: Bool = false) throws -> Member {
        let folder = self.served.folder(definition.name)
        try folder.create()
        let identifier = definition.recipe.identifier
        let kept = folder.kept()
        for name in folder.recipes() where Self.recipe(ofFolder: name) == identifier && name != served {
            if fromFirst && kept.contains(name) { continue }
            if let member = try usable(definition, folderName: name), try isOfThisLayout(member) { return member }
        }
        var generation = 1
        if let served, Self.recipe(ofFolder: served) == identifier {
            generation = (Int(served.split(separator: ".").last ?? "") ?? 1) + 1
        }
        func name() -> String { generation == 1 ? identifier : "\(identifier).\(generation)" }
        while kept.contains(name()) { generation += 1 }
        let store = try baselines.store(definition, at: folder.store(name()), mayLoseRows: !hasWholeRows(definition))
        try store.note(definition.schema)
        return Member(definition: definition, store: store, folderName: name())
    }

    /// Whether an unfinished build can be continued: its rows have the new layout, and it is not the remains of a step. Otherwise it is removed.
    private func isOfThisLayout(_ member: Member) throws -> Bool {
        if try member.store.schema() ?? member.definition.schema == member.definition.schema,
            try !StepRun.isUnfinished(member.store)
        {
            try member.store.note(member.definition.schema)
            return true
        }
        member.store.close()
        try served.folder(member.definition.name).remove(member.folderName)
        return false
    }

    /// A stale view continues to answer while its successor is built.
    /// - Parameter unlessEmpty: a store without any event is what opening has put in the place of a lost file, and no answer.
    func serveOld(_ definition: ViewDefinition, folderName: String, unlessEmpty: Bool = false) throws {
        let path = served.folder(definition.name).store(folderName)
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            let store = try ViewStore.open(
                at: path, recipe: definition.recipe, tables: definition.tables, indexes: definition.indexes, access: .readOnly)
            if unlessEmpty, try store.checkpoint() == .start { return store.close() }
            served.serve(store, as: folderName, for: definition.name)
        } catch {
            logger.warning("the old view \(definition.name) cannot be read: \(error)")
        }
    }

    func pipeline(_ members: [Member], _ stage: MeshStage) async throws -> FoldPipeline<MeshStage> {
        // Takes the state of earlier packets from the first of the members at the same event, except from one that has lost it.
        let (whole, lossy) = (try members.filter { try $0.store.lost() == 0 }, try members.filter { try $0.store.lost() > 0 })
        return try await FoldPipeline(stage: stage, folders: Self.started(whole + lossy))
    }

    /// A projector for each member, in their order; the rows that they keep in memory are read on all cores.
    private static func started(_ members: [Member]) async throws -> [any BatchFolder<MeshBatch>] {
        try await withThrowingTaskGroup(of: (Int, any BatchFolder<MeshBatch>).self) { group in
            for (place, member) in members.enumerated() {
                group.addTask { (place, try member.definition.start(member.store)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
